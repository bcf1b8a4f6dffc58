"""Changes of one path wait for each other; changes of others do not."""

import random
import threading
import time
from pathlib import Path

import pytest
from execution.files.ground import Ground

from holdfast.contract.errors import OperationFailed
from holdfast.execution.files.locks import PathLocks


@pytest.mark.req("SPEC-EDIT-14")
def test_two_changes_of_one_path_never_overlap(ground: Ground) -> None:
    ground.lay({"t": b"0"}, {"also": "t", "up": "."})
    inside = 0
    most: list[int] = []
    begin = threading.Barrier(8)

    def change(text: str) -> str:
        nonlocal inside
        inside += 1
        most.append(inside)
        time.sleep(0.002)  # long enough for whoever does not wait to be seen
        most.append(inside)
        inside -= 1
        return str(int(text) + 1)

    def many(number: int) -> None:
        files = ground.files(f"cal_{number}")
        begin.wait()
        for _ in range(5):
            # Three names of the same file.
            files.edit(("t", "also", f"{ground.workspace}/up/t")[number % 3], change)

    threads = [threading.Thread(target=many, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(most) == {1}
    assert (ground.workspace / "t").read_bytes() == b"40"
    assert len(ground.locks) == 0


@pytest.mark.req("SPEC-EDIT-14")
@pytest.mark.parametrize("kind", ["write", "edit", "remove", "make_directory"])
def test_every_kind_of_change_waits(tmp_path: Path, kind: str) -> None:
    ground = Ground(tmp_path)
    ground.locks = PathLocks(patience_seconds=0)
    ground.lay({"t": b"0"}, {})
    files = ground.files()
    uses = {
        "write": lambda: files.write("t", b"1"),
        "edit": lambda: files.edit("t", str.upper),
        "remove": lambda: files.remove("t"),
        "make_directory": lambda: files.make_directory("t"),
    }
    problems: list[object] = []

    def change(text: str) -> str:
        def another() -> None:
            try:
                uses[kind]()
            except OperationFailed as problem:
                problems.append(problem.extras["reason"])

        thread = threading.Thread(target=another)
        thread.start()
        thread.join()
        assert files.read_bytes("t") == b"0"  # to read is no change
        files.write("other", b"1")
        return text + "1"

    files.edit("t", change)
    assert problems == ["busy"]
    assert files.read_bytes("t") == b"01"


def test_a_change_that_would_wait_for_itself_is_refused_at_once(ground: Ground) -> None:
    ground.lay({"t": b"0"}, {})
    files = ground.files()
    with pytest.raises(OperationFailed, match="this very call") as raised:
        files.edit("t", lambda text: files.write("t", text).path)
    assert raised.value.extras == {"reason": "busy"}
    assert len(ground.locks) == 0


def test_a_lock_is_free_again_whatever_happens(ground: Ground) -> None:
    ground.lay({"t": b"0"}, {})
    files = ground.files()

    def fails(_text: str) -> str:
        raise LookupError("as asked")

    with pytest.raises(LookupError):
        files.edit("t", fails)
    assert files.write("t", b"1").byte_count == 1
    assert len(ground.locks) == 0


def test_many_paths_by_many_threads() -> None:
    locks, busy = PathLocks(), {str(number): 0 for number in range(3)}

    def many(seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(300):
            path = dice.choice(sorted(busy))
            with locks.held(path):
                busy[path] += 1
                assert busy[path] == 1
                busy[path] -= 1

    threads = [threading.Thread(target=many, args=[seed]) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(locks) == 0
