"""Handles on physical paths: no part of one is a link, and a handle stays what it was.

A link is an OSError with ELOOP. What a handle is for is not known here.
"""

import ctypes
import errno
import os
import stat
from functools import cache

from holdfast.execution.kernel.openat2 import opener

_opener = cache(opener)
_NO_SUCH_CALL = frozenset({errno.ENOSYS, errno.EPERM})
"""Also what a filter of system calls answers."""


def hold(path: str) -> int:
    """A handle on what is there, neither read nor written through; raises OSError."""
    attempt = _opener(os.O_PATH)
    if attempt is None or not path.startswith("/") or "\0" in path:
        raise OSError(errno.EINVAL, "no physical path", path)
    handle = attempt(os.fsencode(path))
    if handle >= 0:
        return handle
    code = ctypes.get_errno()
    if code in _NO_SUCH_CALL:
        return _walked(path)
    raise OSError(code, os.strerror(code), path)


def _walked(path: str) -> int:
    """The same, part by part: a spawner's own filter has no such call."""
    here = os.open("/", os.O_PATH | os.O_CLOEXEC)
    for part in [part for part in path.split("/") if part]:
        above = here
        try:
            here = _not_a_link(above, part)
        finally:
            os.close(above)
    return here


def identity(handle: int) -> tuple[int, int]:
    """What tells a file or a directory from all others, as long as a handle on it is open."""
    found = os.fstat(handle)
    return found.st_dev, found.st_ino


def made(root: int, path: str, *, folder: bool) -> int:
    """A handle on a place below an open directory; what is missing of it is made."""
    parts = [part for part in path.split("/") if part]
    here = os.dup(root)
    for place, part in enumerate(parts, 1):
        here = _entry(here, part, folder=folder or place < len(parts))
    return here


def _entry(above: int, name: str, *, folder: bool) -> int:
    """An entry of a directory, whose handle is taken."""
    try:
        try:
            return _not_a_link(above, name)
        except FileNotFoundError:
            if folder:
                os.mkdir(name, 0o755, dir_fd=above)
            else:
                flags = os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                os.close(os.open(name, flags, 0o600, dir_fd=above))
            return _not_a_link(above, name)
    finally:
        os.close(above)


def _not_a_link(above: int, name: str) -> int:
    handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    if stat.S_ISLNK(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
    return handle
