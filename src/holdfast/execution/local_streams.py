"""Bytes over the sockets of one machine, read and written as the system says that it is time.

anyio has streams for these sockets, too; where one is cancelled at the moment at which its bytes
come, an error of the event loop is told that is nobody's. Whose sockets they are, and what is said,
is not known here.
"""

import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path

from anyio import (
    BrokenResourceError,
    ClosedResourceError,
    EndOfStream,
    create_task_group,
    notify_closing,
    sleep,
    wait_readable,
    wait_writable,
)
from anyio.abc import AsyncResource, ByteStream
from anyio.lowlevel import checkpoint

_MOST_BYTES = 65536
_KNOCK_SECONDS = 0.01


class LocalStream(ByteStream):
    """One connection. One reads at a time, and one writes."""

    def __init__(self, line: socket.socket) -> None:
        self.line = line
        self._closed = False

    async def receive(self, max_bytes: int = _MOST_BYTES) -> bytes:
        """What is there, once something is; EndOfStream."""
        await checkpoint()
        while True:
            try:
                found = self.line.recv(max_bytes)
            except BlockingIOError:
                await wait_readable(self.line)
            except OSError as problem:
                raise self._why(problem) from problem
            else:
                if not found:
                    raise EndOfStream
                return found

    async def send(self, item: bytes) -> None:
        """All of it."""
        await checkpoint()
        left = memoryview(item)
        while left:
            try:
                left = left[self.line.send(left) :]
            except BlockingIOError:
                await wait_writable(self.line)
            except OSError as problem:
                raise self._why(problem) from problem

    async def send_eof(self) -> None:
        """Nothing more comes from here."""
        with suppress(OSError):  # the other side has left
            self.line.shutdown(socket.SHUT_WR)

    async def aclose(self) -> None:
        """Leave; whoever reads or writes hears of it."""
        if not self._closed:
            self._closed = True
            notify_closing(self.line)
            self.line.close()
        await checkpoint()

    def _why(self, problem: OSError) -> Exception:
        return ClosedResourceError() if self._closed else BrokenResourceError(str(problem))


class LocalListener(AsyncResource):
    """Takes connections. Close it."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line

    async def serve(self, take: Callable[[LocalStream], Coroutine[object, object, None]]) -> None:
        """Have each connection taken, as long as this is not cancelled."""
        async with create_task_group() as group:
            while True:
                group.start_soon(take, await self.accept())

    async def aclose(self) -> None:
        """Take no more."""
        notify_closing(self._line)
        self._line.close()
        await checkpoint()

    async def accept(self) -> LocalStream:
        """The next one."""
        while True:
            await wait_readable(self._line)
            with suppress(BlockingIOError, ConnectionAbortedError):  # who knocked is gone
                line, _ = self._line.accept()
                line.settimeout(0)
                return LocalStream(line)


async def connected(path: str) -> LocalStream:
    """A connection to whoever listens there; OSError."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.settimeout(0)
    try:
        while True:
            try:
                line.connect(path)
            except BlockingIOError:  # too many knock: nobody is told when they are fewer
                await sleep(_KNOCK_SECONDS)
            else:
                return LocalStream(line)
    except BaseException:
        line.close()
        raise


def listening(path: str, mode: int, backlog: int) -> LocalListener:
    """Listen at a path that is free, for whom its mode lets in; OSError."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        line.settimeout(0)
        line.bind(path)
        Path(path).chmod(mode)
        line.listen(backlog)
    except BaseException:
        line.close()
        raise
    return LocalListener(line)
