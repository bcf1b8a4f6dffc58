"""The files of anchors, mapped into memory: room is taken first, then written without a call.

Writing to a page that a full disk has no room for would end the process. What the anchors say is
not known here.
"""

import errno
import fcntl
import mmap
import os
import secrets
from pathlib import Path

from holdfast.record.anchor_form import SLOT_BYTES

LIVE = ".live"
MARK_BYTES = 8
NOBODY_RESTORED = bytes(MARK_BYTES)
_SLOTS_AT_ONCE = 256
_NOT_ABLE = (errno.EOPNOTSUPP, errno.EINVAL)
"""How a file system says that it cannot set room aside."""


def opened(path: Path) -> int:
    """Its handle; made where it is not there, and no link. Raises OSError."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


class OwnFile:
    """A file of one's own, held until it is closed, with room for all that is put into it."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError; then nothing is left of it."""
        path = folder / f"{os.getpid()}-{secrets.token_hex(6)}{LIVE}"
        self._used = 0
        self._handle = opened(path)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX)
            size = _SLOTS_AT_ONCE * SLOT_BYTES
            _take_room(self._handle, 0, size)
            self._map = mmap.mmap(self._handle, size)
        except BaseException:
            os.close(self._handle)
            path.unlink()
            raise

    def new_place(self) -> int:
        """Where nothing is yet; OSError where there is no room for more."""
        if self._used == len(self._map):
            self._map = _grown(self._handle, self._map)
        place = self._used
        self._used += SLOT_BYTES
        return place

    def put(self, place: int, content: bytes) -> None:
        """Told from now on, whatever happens to this process."""
        self._map[place : place + SLOT_BYTES] = content

    def close(self) -> None:
        """Let go of it: others may add it up."""
        self._map.close()
        os.close(self._handle)


def mapped_mark(path: Path) -> mmap.mmap:
    """What is changed whenever a session is restored. Raises OSError."""
    handle = opened(path)
    try:
        if os.fstat(handle).st_size < MARK_BYTES:
            os.pwrite(handle, NOBODY_RESTORED, 0)
        return mmap.mmap(handle, MARK_BYTES)
    finally:
        os.close(handle)


def _grown(handle: int, mapped: mmap.mmap) -> mmap.mmap:
    """The same with twice the places; what is mapped stays as it is when there is no room."""
    size = 2 * len(mapped)
    _take_room(handle, len(mapped), size)
    grown = mmap.mmap(handle, size)
    mapped.close()
    return grown


def _take_room(handle: int, start: int, end: int) -> None:
    """Make a file larger by what the disk has room for, not by a hole. Raises OSError."""
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(handle, start, end - start)
        except OSError as problem:
            if problem.errno not in _NOT_ABLE:
                raise
        else:
            return
    while start < end:
        start += os.pwrite(handle, bytes(end - start), start)
