"""A file that people write, too: held by one process of ours, and theirs is never lost."""

import os
import threading
from pathlib import Path

import pytest

from holdfast.execution.files import shared_file
from holdfast.execution.files.shared_file import LARGEST, Held, SharedFile
from holdfast.execution.files.shown import show

FOLDERS = ("agents", "looker", "substrate")


@pytest.fixture
def file(tmp_path: Path) -> SharedFile:
    return SharedFile(tmp_path / "home", FOLDERS, "MEMORY.md")


def rewritten(file: SharedFile, said: bytes) -> bool:
    held = file.hold()
    try:
        return held.rewrite(lambda before: before + said)
    finally:
        held.let_go()


def test_it_is_made_with_its_folders_for_its_owner_alone(file: SharedFile) -> None:
    assert file.read() == b""
    assert not file.path.parent.exists()  # who only reads makes nothing
    assert rewritten(file, b"one\n") is True
    assert rewritten(file, b"two\n") is True
    assert file.read() == file.path.read_bytes() == b"one\ntwo\n"
    assert [one.name for one in file.path.parent.iterdir()] == ["MEMORY.md"]
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.path.parent.stat().st_mode & 0o777 == 0o700


def test_what_is_the_same_is_not_written_again(file: SharedFile) -> None:
    rewritten(file, b"one\n")
    before = file.path.stat().st_ino
    assert rewritten(file, b"") is False
    assert file.path.stat().st_ino == before


def test_what_a_person_writes_meanwhile_is_taken_up(file: SharedFile) -> None:
    rewritten(file, b"one\n")
    seen: list[bytes] = []

    def change(before: bytes) -> bytes:
        if not seen:
            file.path.write_bytes(b"theirs\n")
        seen.append(before)
        return before + b"ours\n"

    held = file.hold()
    held.rewrite(change)
    held.let_go()
    assert seen == [b"one\n", b"theirs\n"]
    assert file.read() == b"theirs\nours\n"


def test_who_writes_all_the_time_does_not_keep_us_for_ever(file: SharedFile) -> None:
    times = 0

    def change(before: bytes) -> bytes:
        nonlocal times
        times += 1
        file.path.write_bytes(b"x" * times)
        return before + b"ours\n"

    held = file.hold()
    assert held.rewrite(change) is True
    held.let_go()
    assert times == 5
    assert file.read().endswith(b"ours\n")


def test_one_at_a_time_holds_it(file: SharedFile, monkeypatch: pytest.MonkeyPatch) -> None:
    first = file.hold()
    waits = threading.Event()

    def sleeping(_seconds: float) -> None:
        waits.set()

    monkeypatch.setattr("time.sleep", sleeping)
    got: list[Held] = []
    other = threading.Thread(target=lambda: got.append(file.hold()))
    other.start()
    assert waits.wait(10)
    assert got == []
    first.let_go()
    other.join(10)
    assert len(got) == 1
    monkeypatch.setattr(shared_file, "PATIENCE_SECONDS", -1.0)
    handles = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(TimeoutError, match=r"MEMORY\.md: another process keeps it"):
        file.hold()
    assert len(list(Path("/proc/self/fd").iterdir())) == handles
    got[0].let_go()


def test_no_link_is_followed_and_nothing_but_a_file_is_read(
    file: SharedFile, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    file.path.parent.mkdir(parents=True)
    file.path.symlink_to(secret)
    held = file.hold()
    for attempt in (file.read, lambda: held.rewrite(lambda before: before + b"x")):
        with pytest.raises(OSError, match=r"symbolic links"):
            attempt()
    file.path.unlink()
    os.mkfifo(file.path)
    with pytest.raises(OSError, match="it is no file"):
        file.read()
    file.path.unlink()
    held.let_go()
    assert secret.read_bytes() == b"secret"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    agents = tmp_path / "home" / "agents"
    agents.rename(tmp_path / "aside")
    agents.symlink_to(elsewhere)
    for attempt in (file.hold, SharedFile(tmp_path / "home", ("agents", "b"), "MEMORY.md").hold):
        with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
            attempt()
    assert list(elsewhere.iterdir()) == []


def test_what_cannot_be_put_in_place_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").mkdir()
    with pytest.raises(IsADirectoryError):
        show(tmp_path, (), "MEMORY.md", b"x")
    assert [one.name for one in tmp_path.iterdir()] == ["MEMORY.md"]


def test_one_that_is_too_large_is_only_ever_made_smaller(
    file: SharedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewritten(file, b"one\n")
    with pytest.raises(OSError, match="larger than 4,194,304 bytes"):
        rewritten(file, b"x" * LARGEST)
    assert file.read() == b"one\n"  # nothing was put in place
    file.path.write_bytes(b"x" * (LARGEST + 2))
    with pytest.raises(OSError, match="larger than"):
        file.read()
    held = file.hold()
    with pytest.raises(OSError, match="larger than"):
        held.rewrite(lambda before: b"y" * len(before))
    assert held.rewrite(lambda before: before[:-1]) is True
    assert held.rewrite(lambda before: before[:4]) is True
    assert file.read() == b"xxxx"
    monkeypatch.setattr(shared_file, "_STILL_READ", 3)
    with pytest.raises(OSError, match="larger than 3 bytes"):
        held.rewrite(lambda _before: b"")
    held.let_go()


def test_who_may_read_and_write_it_stays_as_it_is(file: SharedFile) -> None:
    rewritten(file, b"one\n")
    file.path.chmod(0o664)
    rewritten(file, b"two\n")
    assert file.path.stat().st_mode & 0o777 == 0o664
