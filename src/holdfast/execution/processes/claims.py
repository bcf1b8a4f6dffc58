"""Whose a session's folder is: a claim lives as long as the process that made it.

A runtime that is killed leaves the directories of its sandboxes. The next one finds them without a
claim and removes them. What else lies in a session's folder is not touched here.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from holdfast.execution.processes.scratch import remove_scratch
from holdfast.execution.sidecars import make_private

SCRATCH, JOBS = "scratch", "jobs"
"""What ends with the processes of a session."""
GOING = ".going-"
"""How the name of a folder begins that is being removed."""
_CLAIM = "in-use"
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class Claim:
    """A session's folder is in use. Several may use one."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError."""
        make_private(folder)
        self._path = folder / _CLAIM
        self._handle = _locked(self._path, fcntl.LOCK_SH)

    def release(self) -> None:
        """It is not any more: what ends with it is removed, unless another uses it, too."""
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove_from(self._path.parent)
        except BlockingIOError:
            pass  # whoever is last removes it
        finally:
            os.close(self._handle)


def remove_abandoned(sessions: Path) -> None:
    """Remove what killed runtimes left behind; what is in use stays."""
    with suppress(OSError):
        for folder in sessions.iterdir():
            if (folder / SCRATCH).is_dir() or (folder / JOBS).is_dir():
                with suppress(OSError):
                    _remove_if_abandoned(folder)


def is_claimed(folder: Path) -> bool:
    """Whether somebody who lives uses it; raises OSError where that cannot be seen."""
    try:
        handle = os.open(folder / _CLAIM, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(handle)


def remove_unclaimed(folder: Path) -> bool:
    """Remove all of it unless somebody uses it; raises OSError.

    It goes under another name first: what is left of a removal that was killed is no session.
    """
    try:
        handle = _locked(folder / _CLAIM, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    try:
        going = folder.with_name(f"{GOING}{token_hex(8)}")
        folder.rename(going)
        remove_scratch(going)
    finally:
        os.close(handle)
    return True


def _remove_if_abandoned(folder: Path) -> None:
    try:
        handle = _locked(folder / _CLAIM, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    try:
        _remove_from(folder)
    finally:
        os.close(handle)


def _locked(path: Path, kind: int) -> int:
    """The file, locked; it is still the one that everybody finds."""
    while True:
        handle = os.open(path, _FLAGS, 0o600)
        try:
            fcntl.flock(handle, kind)
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        except FileNotFoundError:
            pass  # its last user has just removed it
        except OSError:
            os.close(handle)
            raise
        os.close(handle)


def _remove_from(folder: Path) -> None:
    for name in (SCRATCH, JOBS):
        remove_scratch(folder / name)
    with suppress(OSError):
        (folder / _CLAIM).unlink()
        folder.rmdir()  # unless something else is kept there
