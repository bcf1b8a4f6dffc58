"""Opening a physical path exactly: no link is followed, on the way or at its end.

A link that has appeared meanwhile is an OSError with ELOOP. Whether a path may be opened is not
known here.
"""

import ctypes
import errno
import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from holdfast.execution.kernel.openat2 import opener

_TRIES = 64
_TRY_AGAIN = frozenset({errno.EAGAIN, errno.EINTR})
_NO_SUCH_CALL = frozenset({errno.ENOSYS, errno.EPERM})
"""Also what a filter of system calls answers. The walk then says what is really the matter."""

FOLDER = os.O_DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY)
"""To stand in a directory: it need not be readable, where the system has such handles."""
READABLE_FOLDER = os.O_DIRECTORY | os.O_RDONLY
"""To read a directory, or to make its entries last."""
_CONTENT = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def open_physical(path: str, flags: int) -> int:
    """Open an absolute path in which no part is a link; raises OSError."""
    if not path.startswith("/") or "\0" in path:
        raise OSError(errno.EINVAL, "not an absolute path", path)
    attempt = _opener(flags)
    return _walked(path, flags) if attempt is None else _opened(attempt, path, flags)


_opener = cache(opener)


def _opened(attempt: Callable[[bytes], int], path: str, flags: int) -> int:
    encoded = os.fsencode(path)
    code = errno.EAGAIN
    for _ in range(_TRIES):
        handle = attempt(encoded)
        if handle >= 0:
            return handle
        code = ctypes.get_errno()
        if code not in _TRY_AGAIN:
            break
    if code in _NO_SUCH_CALL:
        return _walked(path, flags)
    raise OSError(code, os.strerror(code), path)


def _walked(path: str, flags: int) -> int:
    """The same, part by part."""
    *above, last = [part for part in path.split("/") if part] or ["."]
    handle = os.open("/", FOLDER | os.O_CLOEXEC)
    try:
        for part in above:
            below = open_entry(handle, part, FOLDER)
            os.close(handle)
            handle = below
        return open_entry(handle, last, flags)
    finally:
        os.close(handle)


def open_entry(folder: int, name: str, flags: int) -> int:
    """Open an entry of an open directory, unless it is a link."""
    try:
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except NotADirectoryError:
        # A link is no directory either: say which of the two it was.
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


class Spot(NamedTuple):
    """Where an entry is or may come to be: an open directory and a name in it."""

    folder: int
    name: str
    path: str
    """Absolute; for records and messages alone."""

    def look(self) -> os.stat_result | None:
        """What is there now, a link itself included; None when there is nothing."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def beside(self, name: str) -> "Spot":
        """Another entry of the same directory."""
        return Spot(self.folder, name, f"{self.path.rpartition('/')[0]}/{name}")

    @contextmanager
    def content(self) -> Generator[int]:
        """The file that is there, open for reading; raises OSError for anything but a file.

        Nothing else is even opened: a pipe's writer, or a device, would notice.
        """
        seen = self.look()
        if seen is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.path)
        refuse_other_than_file(seen.st_mode)
        handle = os.open(self.name, _CONTENT | os.O_NOFOLLOW, dir_fd=self.folder)
        try:
            refuse_other_than_file(os.fstat(handle).st_mode)
            yield handle
        finally:
            os.close(handle)


class NotAFile(OSError):
    """Something is there that is neither a file nor a link."""

    def __init__(self, mode: int) -> None:
        super().__init__(errno.EINVAL, "not a file")
        self.mode = mode


def refuse_other_than_file(mode: int) -> None:
    """Raise what is the matter with an entry that was to be a file."""
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not stat.S_ISREG(mode):
        raise NotAFile(mode)


@contextmanager
def standing(path: str, flags: int = FOLDER) -> Generator[Spot]:
    """Stand in the directory of a physical path."""
    above, _, name = path.rpartition("/")
    folder = open_physical(above or "/", flags)
    try:
        yield Spot(folder, name or ".", path)
    finally:
        os.close(folder)
