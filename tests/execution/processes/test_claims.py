"""A session's folder is its runtime's while that lives; what a killed one left is removed."""

import fcntl
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from holdfast.execution.processes.claims import Claim, remove_abandoned

HOLDER = """
import sys, time
from pathlib import Path
from holdfast.execution.processes.claims import Claim
claim = Claim(Path({folder!r}))
Path({folder!r}, "scratch", "0").mkdir(parents=True)
print("claimed", flush=True)
time.sleep(60)
"""


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


def lay(folder: Path) -> None:
    for name in ("scratch/0/tmp", "jobs"):
        (folder / name).mkdir(parents=True)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_a_killed_runtime_left_is_removed_and_nothing_before(sessions: Path) -> None:
    theirs = sessions / "theirs"
    code = HOLDER.format(folder=str(theirs))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as runtime:
        assert runtime.stdout is not None
        assert runtime.stdout.readline() == b"claimed\n"
        (theirs / "outputs").mkdir()
        remove_abandoned(sessions)
        assert names(theirs) == ["in-use", "outputs", "scratch"]
        runtime.kill()
    remove_abandoned(sessions)
    assert names(theirs) == ["outputs"]


def test_a_folder_without_sandboxes_is_left_alone(sessions: Path) -> None:
    (sessions / "old" / "outputs").mkdir(parents=True)
    (sessions / "file").touch()
    remove_abandoned(sessions)
    assert names(sessions) == ["file", "old"]
    assert names(sessions / "old") == ["outputs"]
    remove_abandoned(sessions / "nowhere")


def test_the_last_user_removes_everything(sessions: Path) -> None:
    own = sessions / "own"
    first, second = Claim(own), Claim(own)
    lay(own)
    first.release()
    assert names(own) == ["in-use", "jobs", "scratch"]
    second.release()
    assert not own.exists()


@pytest.mark.parametrize("another", [False, True])
def test_what_was_released_meanwhile_is_claimed_anew(
    sessions: Path, monkeypatch: pytest.MonkeyPatch, *, another: bool
) -> None:
    own = sessions / "own"
    first = Claim(own)
    real, flock = fcntl.flock, threading.Event()

    def late(handle: int, kind: int) -> None:
        if not flock.is_set():
            flock.set()
            first.release()
            own.mkdir(exist_ok=True)
            if another:
                (own / "in-use").touch()
        real(handle, kind)

    monkeypatch.setattr(fcntl, "flock", late)
    second = Claim(own)
    monkeypatch.undo()
    lay(own)
    remove_abandoned(sessions)
    assert names(own) == ["in-use", "jobs", "scratch"]
    second.release()
    assert not own.exists()


def test_a_claim_that_is_a_link_is_not_taken(sessions: Path, tmp_path: Path) -> None:
    lay(sessions / "own")
    (sessions / "own" / "in-use").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic link"):
        Claim(sessions / "own")
    remove_abandoned(sessions)
    assert names(sessions / "own") == ["in-use", "jobs", "scratch"]
    assert not (tmp_path / "elsewhere").exists()
