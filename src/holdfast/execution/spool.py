"""The file an output goes to when memory shall not hold all of it: opened late, within a quota."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

BEFORE_A_FILE = 256 * 1024
"""So much is held in memory before a file is worth its cost. No more than what memory shows."""
_AT_ONCE = 256 * 1024


class SpoolFile(NamedTuple):
    """A file to write to."""

    path: str
    handle: int
    quota: int
    """How much of it may be written."""
    closed: Callable[[int], None] = lambda _written: None
    """Told how much was written, when no more comes."""


class Spool:
    """Takes pieces, and writes them when it is told to."""

    def __init__(
        self,
        create: Callable[[], SpoolFile | None],
        quota: int,
        held: int | None = None,
    ) -> None:
        """``held``: how many bytes may wait in memory; None: as many as make a file worth it."""
        self._create = create
        self._quota = quota
        self._held = held
        self._closed: Callable[[int], None] = lambda _written: None
        self._waiting = bytearray()
        self._piece: memoryview | bytes = b""
        self._handle: int | None = None
        self._failed = False
        self._taken = 0
        self._written = 0
        self._due = False
        self._over = False
        self._holding = threading.Lock()
        """Over what waits; never held while a disk is waited for."""
        self._lock = threading.Lock()
        """Over the file."""
        self.path: str | None = None

    def take(self, piece: memoryview | bytes) -> bool:
        """Take one; whether it has to be written before the next may come.

        A large one is not copied: it has to stay as it is until it is written.
        """
        with self._holding:
            self._taken += len(piece)
            if self._failed or self._taken - len(piece) >= self._quota:
                return False
            self._waiting += self._piece  # nobody came to write it, and it was before this one
            self._piece = b""
            if len(piece) >= _AT_ONCE:
                self._piece = piece
                self._due = True
            else:
                self._waiting += piece
                self._due = self._due or len(self._waiting) >= self._most_waiting()
            return self._due

    def write(self) -> None:
        """Write what waits. It blocks; a disk that is full or broken ends the keeping, no more."""
        with self._lock:
            if not self._over:
                self._write_out()

    def _write_out(self) -> None:
        with self._holding:
            waiting, piece = self._waiting, self._piece
            self._waiting, self._piece = bytearray(), b""
            self._due = False
        try:
            if self._handle is None:
                self._open()
            for part in (waiting, piece):
                self._write(memoryview(part))
        except OSError:
            self._failed = True

    def dropped(self, in_memory: int) -> int:
        """Bytes that were taken and are kept nowhere."""
        if self.path is None and not self._failed:
            return 0
        # What waits is as good as written, up to the quota; what failed once is not tried again.
        kept = self._written if self._failed else min(self._quota, self._taken)
        return max(0, self._taken - max(kept, in_memory))

    def close(self) -> None:
        """Write the rest and close the file."""
        with self._lock:
            self._over = True
            # Somebody was told to write and did not come to it: later nobody would close the file.
            if self._due or self._handle is not None:
                self._write_out()
            if self._handle is None:
                return
            with suppress(OSError):
                os.close(self._handle)
            self._handle = None
            self._closed(self._written)

    def _most_waiting(self) -> int:
        if self._held is not None:
            return self._held
        return BEFORE_A_FILE if self._handle is None else _AT_ONCE

    def _open(self) -> None:
        created = self._create()
        if created is None:
            raise OSError("there is no place to keep it")
        self.path, self._handle, quota, self._closed = created
        self._quota = min(self._quota, quota)

    def _write(self, part: memoryview) -> None:
        assert self._handle is not None
        part = part[: max(0, self._quota - self._written)]
        while part:
            count = os.write(self._handle, part)
            self._written += count
            part = part[count:]
