"""Bytes between a program and a host: both ways at once, counted, with an end.

What comes fast waits in the kernel of whoever sends it: a piece is read only after the one before
it was taken. What the bytes mean is not known here.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from holdfast.execution.network.dialling import Line

PIECE = 64 * 1024
_FAREWELL_SECONDS = 2.0
_FLUSH_SECONDS = 10.0
_MOST_IGNORED = 1 << 20


class Traffic:
    """What went either way, and how long nothing may."""

    def __init__(self, idle_seconds: float, half_closed_seconds: float) -> None:
        self.idle = asyncio.timeout(idle_seconds)
        """To be entered around everything that moves bytes."""
        self._seconds = idle_seconds
        self._half_closed_seconds = half_closed_seconds
        self._loop = asyncio.get_running_loop()
        self.sent = 0
        self.received = 0

    def to_host(self, count: int) -> None:
        """So many bytes went to the host."""
        self.sent += count
        self._moved()

    def from_host(self, count: int) -> None:
        """So many bytes came from the host."""
        self.received += count
        self._moved()

    def half_closed(self) -> None:
        """One side has said all; the other one may be gone, and nobody would tell."""
        self._seconds = min(self._seconds, self._half_closed_seconds)
        self._moved()

    def _moved(self) -> None:
        if not self.idle.expired():
            self.idle.reschedule(self._loop.time() + self._seconds)


async def pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, count: Callable[[int], None]
) -> None:
    """Everything that comes, until no more does."""
    while piece := await reader.read(PIECE):
        writer.write(piece)
        count(len(piece))
        await writer.drain()


async def tunnel(program: Line, host: Line, traffic: Traffic) -> None:
    """Both ways at once, until both have ended or one breaks."""

    async def one_way(source: Line, target: Line, count: Callable[[int], None]) -> None:
        await pass_on(source.reader, target.writer, count)
        target.writer.write_eof()
        traffic.half_closed()

    try:
        async with asyncio.TaskGroup() as ways:
            ways.create_task(one_way(program, host, traffic.to_host))
            ways.create_task(one_way(host, program, traffic.from_host))
        # A host that has said all may still be listening.
        await flush(host)
    except* OSError:
        pass  # whoever broke it off knows; the other one is told by the end of the bytes


async def farewell(line: Line, words: bytes = b"") -> None:
    """Say a last word so that it arrives: the kernel drops it if anything was left unread."""
    line.writer.write(words)
    await flush(line)
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(_FAREWELL_SECONDS):
            line.writer.write_eof()
            ignored = 0
            while ignored < _MOST_IGNORED and (piece := await line.reader.read(PIECE)):
                ignored += len(piece)


async def flush(line: Line) -> None:
    """Wait until all that was written is with the kernel, or the time for that is over."""
    line.writer.transport.set_write_buffer_limits(high=0)
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(_FLUSH_SECONDS):
            await line.writer.drain()
