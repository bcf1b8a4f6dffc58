"""A way between a worker and a server that can be broken: it ends, or nothing of it arrives.

What was on its way while nothing arrived does so afterwards, as over a network that heals.
"""

import asyncio  # noqa: TID251 - what anyio opens to such a socket cannot be broken off at any moment
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import anyio
from anyio import to_thread
from anyio.abc import ByteStream, Listener
from engine.cluster_faults.cables import Cable, Direction

Opens = Callable[[], Awaitable[ByteStream]]


class Relay:
    """One way, of as many connections as there are."""

    def __init__(self, opens: Opens, cable: Cable | None = None) -> None:
        """``cable``: over which whoever comes comes; packets are lost there."""
        self._opens = opens
        self._cable = cable
        self._scopes: set[anyio.CancelScope] = set()
        self._is_lost = False
        self._is_mute = False
        self._passes = anyio.Event()
        self._passes.set()
        self._kept_back = 0

    @property
    def carries(self) -> int:
        """How many connections there are."""
        return len(self._scopes)

    def lose(self) -> int:
        """End what is connected, and let nobody in; how many were."""
        self._is_lost = True
        for scope in self._scopes:
            scope.cancel()
        return len(self._scopes)

    async def mute(self, direction: Direction = "both") -> None:
        """Have nothing arrive."""
        self._is_mute, self._kept_back = True, 0
        if self._cable is None:
            self._passes = anyio.Event()
        else:
            await to_thread.run_sync(self._cable.cut, direction)

    async def heal(self) -> int:
        """How much did not arrive while it was to be mute."""
        self._is_lost = False
        self._passes.set()
        was_mute, self._is_mute = self._is_mute, False
        if was_mute and self._cable is not None:
            return await to_thread.run_sync(self._cable.mend)
        return self._kept_back if was_mute else 0

    async def serve(self, listener: Listener[Any]) -> None:
        """Pass on whatever comes there, until this is cancelled."""
        async with listener:
            await listener.serve(self._taken)

    async def _taken(self, client: ByteStream) -> None:
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                async with client:
                    if not self._is_lost:
                        await self._joined(client)
            except OSError:
                return  # nobody is there, or one of both went: so did the connection
            finally:
                self._scopes.discard(scope)

    async def _joined(self, client: ByteStream) -> None:
        async with await self._opens() as server, anyio.create_task_group() as group:

            async def passed(giver: ByteStream, taker: ByteStream) -> None:
                try:
                    async for piece in giver:
                        self._kept_back += not self._passes.is_set()
                        await self._passes.wait()
                        await taker.send(piece)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    pass
                group.cancel_scope.cancel()

            group.start_soon(passed, client, server)
            await passed(server, client)


class SocketOf(ByteStream):
    """A connection to a socket in a folder. Whatever it waits for may be broken off."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def connected(cls, path: str) -> "SocketOf":
        return cls(*await asyncio.open_unix_connection(path))

    async def receive(self, max_bytes: int = 65536) -> bytes:
        try:
            piece = await self._reader.read(max_bytes)
        except ConnectionError:
            raise anyio.BrokenResourceError from None
        if not piece:
            raise anyio.EndOfStream
        return piece

    async def send(self, item: bytes) -> None:
        try:
            self._writer.write(item)
            await self._writer.drain()
        except ConnectionError:
            raise anyio.BrokenResourceError from None

    async def send_eof(self) -> None:
        self._writer.write_eof()

    async def aclose(self) -> None:
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()
