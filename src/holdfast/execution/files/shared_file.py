"""A file that people write as well as we do: held while it is read and put in place anew.

Of several processes of ours one has it at a time; what a person writes meanwhile is seen, and taken
up before ours is put in place. No link is followed. What it says is not known here. Blocking.
"""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from holdfast.execution.files.opening import READABLE_FOLDER, open_entry
from holdfast.execution.files.shown import made, put
from holdfast.execution.sidecars import make_private

LARGEST = 4 * 1024 * 1024
"""What people write into it, at most."""
_STILL_READ = 16 * LARGEST
"""As much is read of one that grew too large, so that it can be made smaller."""
_PRIVATE = 0o600
PATIENCE_SECONDS = 10.0
_BETWEEN_TRIES = 0.01
_MOST_TAKEN_UP = 5
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY


class SharedFile:
    """One file, in a folder that is made when it is first held."""

    def __init__(self, root: Path, folders: Sequence[str], name: str) -> None:
        self._root = root
        self._folders = tuple(folders)
        self._name = name

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._root.joinpath(*self._folders, self._name)

    def read(self) -> bytes:
        """What it says, without holding it; nothing where there is none. OSError."""
        folder = self.path.parent
        if not folder.exists():
            return b""
        place = self._opened()
        try:
            return _content(place, self._name)
        finally:
            os.close(place)

    def hold(self) -> "Held":
        """Keep it from other processes of ours; OSError, also where one keeps it all the time."""
        place = self._opened()
        try:
            _take(place, self.path)
        except BaseException:
            os.close(place)
            raise
        return Held(place, self._name)

    def _opened(self) -> int:
        make_private(self._root)
        place = made(self._root, self._folders, ignored=False)
        try:
            return open_entry(place, ".", READABLE_FOLDER)
        finally:
            os.close(place)


class Held:
    """It is ours until it is let go."""

    def __init__(self, place: int, name: str) -> None:
        self._place = place
        self._name = name

    def rewrite(self, change: Callable[[bytes], bytes]) -> bool:
        """Put in place what is made of what it says; whether anything had to be. OSError.

        Where a person is quicker, it is made anew of what they wrote. One that is too large is
        only ever made smaller. Who may read and write it stays as it is.
        """
        tries = 0
        while True:
            before = self._look()
            content = _content(self._place, self._name, _STILL_READ)
            changed = change(content)
            if changed == content:
                return False
            if len(changed) > max(LARGEST, len(content) - 1):
                raise _too_large(LARGEST, self._name)
            tries += 1
            if self._look() == before or tries == _MOST_TAKEN_UP:
                mode = stat.S_IMODE(before[0]) & 0o777 if before else _PRIVATE
                put(self._place, self._name, changed, mode)
                return True

    def let_go(self) -> None:
        """Leave it to others."""
        os.close(self._place)

    def _look(self) -> tuple[int, ...]:
        """What tells one state of the file from another."""
        try:
            seen = os.stat(self._name, dir_fd=self._place, follow_symlinks=False)
        except FileNotFoundError:
            return ()
        return seen.st_mode, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns


def _content(place: int, name: str, most: int = LARGEST) -> bytes:
    try:
        handle = open_entry(place, name, _READ)
    except FileNotFoundError:
        return b""
    with os.fdopen(handle, "rb") as file:
        seen = os.fstat(handle)
        if not stat.S_ISREG(seen.st_mode):
            raise OSError(errno.EINVAL, "it is no file", name)
        content = file.read(most + 1)
    if len(content) > most:
        raise _too_large(most, name)
    return content


def _too_large(most: int, name: str) -> OSError:
    return OSError(errno.EFBIG, f"it is larger than {most:,} bytes", name)


def _take(place: int, path: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                message = f"{path}: another process keeps it all the time; end that one"
                raise TimeoutError(message) from None
            time.sleep(_BETWEEN_TRIES)
        else:
            return
