"""What a process prints, while it prints: beginning and end kept, the whole in a file, all counted.

Memory stays flat however much comes. The streams are read in pieces as large as the pipe, in the
order they come; what is past the quota is read, counted and dropped, so that nothing ever blocks on
a full pipe. Secrets are taken out before a byte is kept. What becomes of it is decided elsewhere.
"""

import asyncio
import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, NamedTuple, Protocol

from holdfast.contract.shell import Printed
from holdfast.execution.spool import Spool

StreamName = Literal["stdout", "stderr"]

HEAD_BYTES = 256 * 1024
TAIL_BYTES = 64 * 1024
MOST_PIECES = 10_000
"""How many changes from one stream to the other are remembered."""

_PIPE = 64 * 1024
_LARGE_PIPE = 1024 * 1024


class Scrubber(Protocol):
    """Takes secrets out of a stream that comes in pieces."""

    def feed(self, piece: bytes, /) -> bytes:
        """What of the stream can be kept by now."""
        ...

    def rest(self) -> bytes:
        """What was held back because a secret might have begun there."""
        ...


class Captured(NamedTuple):
    """What was printed so far."""

    stdout: Printed
    stderr: Printed
    pieces: tuple[tuple[StreamName, int], ...]
    """The order in which they came: so many bytes of one, then so many of the other."""
    path: str | None
    """Where both are, in that order; None while memory holds all, or nothing could be kept."""
    dropped: int
    """Bytes that are neither in memory nor in the file."""
    closed: bool
    """Whether both streams have ended."""


class _Stream:
    """One stream's pipe, beginning, end and count."""

    def __init__(self, name: StreamName, pipe: int, scrubber: Scrubber | None) -> None:
        self.name: StreamName = name
        self.pipe = pipe
        self.scrubber = scrubber
        self.large = False
        self.total = 0
        self._head = bytearray()
        self._tail = bytearray()

    def keep(self, piece: memoryview | bytes) -> None:
        """Remember beginning and end."""
        self.total += len(piece)
        room = HEAD_BYTES - len(self._head)
        if room > 0:
            self._head += piece[:room]
            piece = piece[room:]
        if not len(piece):
            return
        self._tail += piece[-TAIL_BYTES:]
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[:-TAIL_BYTES]

    def printed(self) -> Printed:
        """What there is so far."""
        return Printed(bytes(self._head), bytes(self._tail[-TAIL_BYTES:]), self.total)


class Capture:
    """Reads what a process prints until its pipes are closed."""

    def __init__(
        self, spool: Spool, scrubber: Callable[[], Scrubber] | None, heard: Callable[[], None]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._spool = spool
        self._scrubber = scrubber
        self._heard = heard
        self._open: dict[int, _Stream] = {}
        self._streams: dict[StreamName, _Stream] = {}
        self._pieces: list[tuple[StreamName, int]] = []
        self._room = bytearray(_PIPE)
        self._closed: asyncio.Future[None] = self._loop.create_future()
        self._writing: asyncio.Future[None] | None = None

    def pipe(self, name: StreamName) -> int:
        """A pipe to be read; returns the end for the process, which the caller closes."""
        reading, writing = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(reading, False)
        stream = _Stream(name, reading, self._scrubber() if self._scrubber else None)
        self._open[reading] = self._streams[name] = stream
        self._loop.add_reader(reading, self._read, stream)
        return writing

    async def wait_closed(self, seconds: float) -> bool:
        """Wait until the pipes are closed and everything is read; whether they are."""
        await asyncio.wait([self._closed], timeout=seconds)
        return self._closed.done()

    def so_far(self) -> Captured:
        """What was printed up to now."""
        return Captured(
            stdout=self._printed("stdout"),
            stderr=self._printed("stderr"),
            pieces=tuple(self._pieces),
            path=self._spool.path,
            dropped=self._spool.dropped(self._in_memory()),
            closed=self._closed.done(),
        )

    def close(self) -> None:
        """Read no more, and let the file go."""
        for stream in list(self._open.values()):
            self._end(stream)
        self._spool.close()

    def _printed(self, name: StreamName) -> Printed:
        stream = self._streams.get(name)
        return stream.printed() if stream else Printed(b"", b"", 0)

    def _in_memory(self) -> int:
        both = (self._printed("stdout"), self._printed("stderr"))
        return sum(len(one.head) + len(one.tail) for one in both)

    def _read(self, stream: _Stream) -> None:
        count = os.readv(stream.pipe, [self._room])
        if count == 0:
            self._end(stream)
            return
        self._heard()
        piece: memoryview | bytes = memoryview(self._room)[:count]
        if count == _PIPE and not stream.large:
            self._widen(stream)
        if stream.scrubber is not None:
            piece = stream.scrubber.feed(bytes(piece))
        self._take(stream, piece)

    def _take(self, stream: _Stream, piece: memoryview | bytes) -> None:
        if not len(piece):
            return
        stream.keep(piece)
        self._note(stream.name, len(piece))
        if self._spool.take(piece):
            self._pause()

    def _note(self, name: StreamName, count: int) -> None:
        if self._pieces and self._pieces[-1][0] == name:
            self._pieces[-1] = (name, self._pieces[-1][1] + count)
        elif len(self._pieces) < MOST_PIECES:
            self._pieces.append((name, count))

    def _widen(self, stream: _Stream) -> None:
        """Much is coming: fewer and larger pieces."""
        stream.large = True
        with suppress(OSError):
            fcntl.fcntl(stream.pipe, fcntl.F_SETPIPE_SZ, _LARGE_PIPE)
            if len(self._room) < _LARGE_PIPE:
                self._room = bytearray(_LARGE_PIPE)

    def _pause(self) -> None:
        """Read on when what is waiting has been written, off the event loop: a disk may block."""
        for pipe in self._open:
            self._loop.remove_reader(pipe)
        self._writing = self._loop.run_in_executor(None, self._spool.write)
        self._writing.add_done_callback(self._resume)

    def _resume(self, _written: object) -> None:
        self._writing = None
        for pipe, stream in self._open.items():
            self._loop.add_reader(pipe, self._read, stream)

    def _end(self, stream: _Stream) -> None:
        del self._open[stream.pipe]
        self._loop.remove_reader(stream.pipe)
        os.close(stream.pipe)
        if stream.scrubber is not None:
            self._take(stream, stream.scrubber.rest())
        if not self._open:
            self._closed.set_result(None)
