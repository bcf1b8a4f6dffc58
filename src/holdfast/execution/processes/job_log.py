"""The log of a background job: a file from its first moment on, its end in memory, both bounded."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from holdfast.execution.spool import Spool, SpoolFile

TAIL_BYTES = 64 * 1024
_CONTINUES = 0x80
"""A byte with this bit and not the next is no first byte of a character."""


class JobLog(Spool):
    """Takes both streams of a job in the order they come."""

    def __init__(self, folder: str, quota: int) -> None:
        super().__init__(lambda: _created(folder, quota), quota, held=1)
        self._tail = bytearray()
        self.written: set[Callable[[], object]] = set()
        """Called after every write, in the thread that wrote."""

    def take(self, piece: memoryview | bytes) -> bool:
        """Take one, and remember its end."""
        self._tail += piece[-TAIL_BYTES:]
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[:-TAIL_BYTES]
        return super().take(piece)

    def write(self) -> None:
        """Write what waits, and say so."""
        super().write()
        for tell in tuple(self.written):
            tell()

    def tail(self, count: int) -> str:
        """The end of what was printed, from its first whole character on."""
        return in_whole_characters(self._tail[-min(count, TAIL_BYTES) :] if count > 0 else b"")


def in_whole_characters(end: bytes | bytearray) -> str:
    """The end of a text, without what is left of a character at its beginning."""
    begin = 0
    while begin < len(end) and end[begin] & 0xC0 == _CONTINUES:
        begin += 1
    return end[begin:].decode("utf-8", "replace")


def _created(folder: str, quota: int) -> SpoolFile:
    Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    path = f"{folder}/bg-{secrets.token_hex(4)}.log"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return SpoolFile(path, os.open(path, flags, 0o600), quota)
