"""A way between a worker and a server that can be cut: it ends, or passes nothing on.

What was on its way while it passed nothing on arrives afterwards, as over a network that heals.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import ByteStream, Listener

Opens = Callable[[], Awaitable[ByteStream]]


class Relay:
    """One way, of as many connections as there are."""

    def __init__(self, opens: Opens) -> None:
        self._opens = opens
        self._scopes: set[anyio.CancelScope] = set()
        self._is_lost = False
        self._passes = anyio.Event()
        self._passes.set()

    def lose(self) -> None:
        """End what is connected, and let nobody in."""
        self._is_lost = True
        for scope in self._scopes:
            scope.cancel()

    def mute(self) -> None:
        """Keep everything, and pass nothing on."""
        self._passes = anyio.Event()

    def heal(self) -> None:
        self._is_lost = False
        self._passes.set()

    @asynccontextmanager
    async def listening(self, listener: Listener[Any]) -> AsyncGenerator["Relay"]:
        async with listener, anyio.create_task_group() as group:
            group.start_soon(listener.serve, self._taken)
            yield self
            group.cancel_scope.cancel()

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
                        await self._passes.wait()
                        await taker.send(piece)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    pass
                group.cancel_scope.cancel()

            group.start_soon(passed, client, server)
            await passed(server, client)
