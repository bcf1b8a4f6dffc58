"""What is told of sessions' ends is found again, whatever happens to disks and processes."""

import errno
import fcntl
import os
import resource
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.contract.journal import JournalUnavailable
from holdfast.record.anchors import TAKEN_AWAY, Anchor, AnchorFiles, read_anchors

FIRST_PLACES = 256
HASH = b"h" * 32


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "anchors"


@contextmanager
def files_no_larger_than(size: int) -> Generator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_finds_no_room_fails_nobody_is_said_once_and_is_told_when_there_is_some(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    anchors = AnchorFiles(folder)
    with files_no_larger_than(50_000):
        for number in range(FIRST_PLACES + 3):
            anchors.note(f"ses_{number}", 1, HASH)
        anchors.note("ses_0", 2, HASH)
        anchors.note(f"ses_{FIRST_PLACES}", 2, HASH)
        assert len(read_anchors(folder)) == FIRST_PLACES
        assert read_anchors(folder)["ses_0"].sequence == 2
    (said,) = caplog.messages
    assert str(folder) in said
    assert "make room there" in said
    anchors.note("ses_0", 3, HASH)
    expected = {f"ses_{number}": Anchor(1, HASH) for number in range(FIRST_PLACES + 3)}
    expected |= {"ses_0": Anchor(3, HASH), f"ses_{FIRST_PLACES}": Anchor(2, HASH)}
    assert read_anchors(folder) == expected
    anchors.close()
    assert read_anchors(folder) == expected
    assert len(caplog.messages) == 1


def test_what_still_waits_at_the_end_is_told_then(folder: Path) -> None:
    anchors = AnchorFiles(folder)
    with files_no_larger_than(50_000):
        for number in range(FIRST_PLACES + 1):
            anchors.note(f"ses_{number}", 1, HASH)
    anchors.close()
    assert len(read_anchors(folder)) == FIRST_PLACES + 1


def test_anchors_that_cannot_be_begun_are_an_error_and_leave_nothing(folder: Path) -> None:
    with files_no_larger_than(10_000), pytest.raises(JournalUnavailable, match=str(folder)):
        AnchorFiles(folder)
    assert [path.name for path in folder.iterdir()] == [".lock"]


@pytest.mark.parametrize("code", [errno.EOPNOTSUPP, errno.EINVAL, None])
def test_where_room_cannot_be_set_aside_it_is_written_to(
    folder: Path, monkeypatch: pytest.MonkeyPatch, code: int | None
) -> None:
    def refused(*_: int) -> None:
        assert code is not None
        raise OSError(code, os.strerror(code))

    if code is None:
        monkeypatch.delattr(os, "posix_fallocate")
    else:
        monkeypatch.setattr(os, "posix_fallocate", refused)
    anchors = AnchorFiles(folder)
    for number in range(FIRST_PLACES + 1):
        anchors.note(f"ses_{number}", 1, HASH)
    (own,) = folder.glob("*.live")
    assert own.stat().st_blocks * 512 >= own.stat().st_size > FIRST_PLACES * 140
    assert len(read_anchors(folder)) == FIRST_PLACES + 1
    anchors.close()


def test_a_new_file_has_all_of_its_room(folder: Path) -> None:
    anchors = AnchorFiles(folder)
    (own,) = folder.glob("*.live")
    assert own.stat().st_blocks * 512 >= own.stat().st_size == FIRST_PLACES * 140
    anchors.close()


def test_nobody_adds_up_while_a_file_is_begun(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between making it and holding it, it looks like one of a process that is gone."""
    flock = fcntl.flock
    begun: list[str] = []

    def watched(handle: int, how: int) -> None:
        held = Path(f"/proc/self/fd/{handle}").readlink()
        if held.suffix == ".live":
            begun.append(held.name)
            with (folder / ".lock").open() as lock, pytest.raises(BlockingIOError):
                flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", watched)
    anchors = AnchorFiles(folder)
    assert begun == [path.name for path in folder.glob("*.live")]
    anchors.close()


ON_A_FULL_DISK = """
import logging, sys
from pathlib import Path
import anyio
from record.test_verifying import opened
from holdfast.contract.events import SessionCreated

async def main(root, filler):
    logging.basicConfig(format="%(message)s", stream=sys.stdout)
    store = opened(Path(root))
    with open(filler, "wb", buffering=0) as out:
        try:
            while True:
                out.write(bytes(4096))
        except OSError as problem:
            print(problem.strerror)
    for number in range(600):
        await store.journal.create(f"ses_{number}", [SessionCreated()])
    Path(filler).unlink()
    await store.archive.delete("ses_599")
    await store.journal.close()

anyio.run(main, *sys.argv[1:])
"""


@pytest.mark.system("util-linux", program="unshare")
def test_a_full_disk_does_not_end_the_process(tmp_path: Path) -> None:
    """In a namespace of its own: a small disk for the anchors, another one for the store."""
    here = tmp_path / "anchors"
    here.mkdir()
    script = (
        f"mount -t tmpfs -o size=512k none {here} || exit 77;"
        f"'{sys.executable}' -c '{ON_A_FULL_DISK}' {tmp_path} {here}/filler || exit $?;"
        f"cp {here}/sum {tmp_path}/sum"
    )
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("a mount namespace of one's own is not to be had here")
    assert done.returncode == 0, done.stderr
    filled, said = done.stdout.splitlines()
    assert filled == "No space left on device"
    assert "No space left on device" in said
    (tmp_path / "sum").rename(here / "sum")
    found = read_anchors(here)
    assert len(found) == 600
    assert found["ses_599"].sequence == TAKEN_AWAY
