"""What a process prints, read while it prints.

The streams are read in pieces as large as the pipe, in the order they come; what is past the quota
is read, counted and dropped, so that nothing ever blocks on a full pipe. What becomes of it is
decided elsewhere.
"""

import asyncio
import fcntl
import os
import sys
import termios
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from holdfast.execution.processes.printout import (
    HEAD_BYTES,
    TAIL_BYTES,
    Captured,
    Printout,
    Scrubber,
    StreamName,
)
from holdfast.execution.spool import Spool

__all__ = [
    "HEAD_BYTES",
    "TAIL_BYTES",
    "Capture",
    "Captured",
    "Scrubber",
    "StreamName",
    "unread",
]

_PIPE = 64 * 1024
_LARGE_PIPE = 1024 * 1024


def unread(pipe: int) -> int:
    """How many bytes lie in a pipe, asked of either end."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


class _Pipe(NamedTuple):
    """Where one stream is read from."""

    name: StreamName
    end: int
    lent: bool
    """It is somebody else's to close."""


class Capture:
    """Reads what a process prints until its pipes are closed."""

    def __init__(
        self, spool: Spool, scrubber: Callable[[], Scrubber] | None, heard: Callable[[], None]
    ) -> None:
        self.printout = Printout(spool, scrubber)
        """What was read."""
        self.heard = heard
        """Called whenever something came."""
        self._loop = asyncio.get_running_loop()
        self._open: dict[int, _Pipe] = {}
        self._wide: set[int] = set()
        self._room = bytearray(_PIPE)
        self._closed: asyncio.Future[None] = self._loop.create_future()
        self._writing: asyncio.Future[None] | None = None

    def pipe(self, name: StreamName) -> int:
        """A pipe to be read; returns the end for the process, which the caller closes."""
        reading, writing = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(reading, False)
        self.read_from(name, reading, lent=False)
        return writing

    def read_from(self, name: StreamName, end: int, *, lent: bool = True) -> None:
        """Read a pipe that does not block; a lent one stays the caller's."""
        pipe = self._open[end] = _Pipe(name, end, lent)
        self._loop.add_reader(end, self._read, pipe)

    async def drain(self) -> None:
        """Read what lies in the pipes now.

        What a process printed before it said something elsewhere is so told from what comes later.
        """
        for pipe in tuple(self._open.values()):
            left = unread(pipe.end)
            while left > 0:
                if self._writing is not None:
                    await asyncio.wait([self._writing])
                    left = min(left, unread(pipe.end))
                    continue
                left -= self._read(pipe, left)
            if self.printout.take_rest(pipe.name):
                self._pause()

    async def wait_closed(self, seconds: float | None) -> bool:
        """Wait until the pipes are closed and everything is read; whether they are."""
        await asyncio.wait([self._closed], timeout=seconds)
        return self._closed.done()

    @property
    def closed(self) -> bool:
        """Whether all pipes have ended."""
        return self._closed.done()

    def pipes(self) -> set[int]:
        """The numbers by which the system knows the pipes that are still read."""
        return {os.fstat(end).st_ino for end in self._open}

    def so_far(self) -> Captured:
        """What was printed up to now."""
        return self.printout.so_far(closed=self._closed.done())

    def close(self) -> None:
        """Read no more, and let the file go."""
        for pipe in tuple(self._open.values()):
            self._end(pipe)
        self.printout.spool.close()

    def _read(self, pipe: _Pipe, most: int | None = None) -> int:
        try:
            count = os.readv(pipe.end, [memoryview(self._room)[:most]])
        except BlockingIOError:
            return 0  # it was drained since the loop saw it
        if count == 0:
            self._end(pipe)
            return 0
        self.heard()
        piece = memoryview(self._room)[:count]
        if count == _PIPE and pipe.end not in self._wide:
            self._widen(pipe)
        if self.printout.take(pipe.name, piece):
            self._pause()
        return count

    def _widen(self, pipe: _Pipe) -> None:
        """Much is coming: fewer and larger pieces."""
        self._wide.add(pipe.end)
        with suppress(OSError):
            fcntl.fcntl(pipe.end, fcntl.F_SETPIPE_SZ, _LARGE_PIPE)
            if len(self._room) < _LARGE_PIPE:
                self._room = bytearray(_LARGE_PIPE)

    def _pause(self) -> None:
        """Read on when what is waiting has been written, off the event loop: a disk may block."""
        for end in self._open:
            self._loop.remove_reader(end)
        self._writing = self._loop.run_in_executor(None, self.printout.spool.write)
        self._writing.add_done_callback(self._resume)

    def _resume(self, written: object) -> None:
        if written is not self._writing:
            return  # a later one is under way: what it writes lies where the next piece would go
        self._writing = None
        for end, pipe in self._open.items():
            self._loop.add_reader(end, self._read, pipe)

    def _end(self, pipe: _Pipe) -> None:
        del self._open[pipe.end]
        self._loop.remove_reader(pipe.end)
        if not pipe.lent:
            os.close(pipe.end)
        self.printout.take_rest(pipe.name)
        if not self._open:
            self._closed.set_result(None)
