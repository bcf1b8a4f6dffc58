"""Listening for clients over HTTP, with uvicorn, until a signal ends it.

What is answered is not known here.
"""

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from secrets import token_urlsafe
from signal import SIGHUP, SIGINT, SIGTERM
from socket import socket
from typing import Any, NamedTuple

import msgspec
import uvicorn
from anyio import (
    create_task_group,
    create_tcp_listener,
    current_time,
    open_signal_receiver,
    sleep,
)
from anyio.abc import SocketAttribute

from holdfast.app.http_door.connections import Connection, end_all, end_overdue
from holdfast.app.http_door.rules import is_loopback
from holdfast.runtime.abort import Abort

__all__ = [
    "Ends",
    "Listening",
    "OpenDoor",
    "answering",
    "answering_until",
    "heed_signals",
    "is_loopback",
    "open_door",
]

Application = Callable[..., Any]
"""An ASGI application."""
_LOOK_SECONDS = 1.0


class Listening(msgspec.Struct, frozen=True, kw_only=True):
    """Where, and for whom."""

    host: str
    port: int
    """0: any that is free."""
    names: tuple[str, ...] = ()
    token: str | None = None
    """None: one is made up, and told once."""


class OpenDoor(NamedTuple):
    """An address that is listened at."""

    address: str
    """As in `http://127.0.0.1:8765`."""
    token: str
    sockets: list[socket]


class _Server(uvicorn.Server):
    """Ends when it is told to; signals are somebody else's business."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave them alone: sessions have to be closed before the process ends."""
        yield

    def leave(self) -> None:
        """Let go of all that is left: where it was cancelled it had no time to."""
        for one in getattr(self, "servers", ()):
            one.close()
        end_all(self.server_state.connections)


@asynccontextmanager
async def open_door(listening: Listening) -> AsyncGenerator[OpenDoor]:
    """Listen; OSError when the address cannot be listened at."""
    token = listening.token or token_urlsafe(32)
    listener = await create_tcp_listener(local_host=listening.host, local_port=listening.port)
    async with listener:
        host = f"[{listening.host}]" if ":" in listening.host else listening.host
        port = listener.extra(SocketAttribute.local_port)
        sockets = [one.extra(SocketAttribute.raw_socket) for one in listener.listeners]
        yield OpenDoor(f"http://{host}:{port}", token, sockets)


async def answering(
    application: Application,
    door: OpenDoor,
    ending: Callable[[], None],
    seconds: int,
) -> None:
    """Answer until a signal comes; ``ending`` hears of each. Answers then have so many seconds."""
    leaving = Abort()

    def end() -> None:
        ending()
        leaving.set()

    async with create_task_group() as group:
        group.start_soon(heed_signals, end)
        try:
            await answering_until(application, door, Ends(leaving=leaving), seconds)
        finally:
            group.cancel_scope.cancel()


class Ends(msgspec.Struct, frozen=True, kw_only=True):
    """How it is told to end."""

    leaving: Abort
    hurrying: Abort = msgspec.field(default_factory=Abort)
    """Answers under way are waited for no longer."""


async def answering_until(
    application: Application, door: OpenDoor, ends: Ends, seconds: int
) -> None:
    """Answer until it is told to end. Answers under way then have so many seconds."""
    server = _Server(_configuration(application, seconds))

    def leave() -> None:
        server.should_exit = True

    def hurry() -> None:
        server.should_exit = server.force_exit = True

    with _told(ends.leaving, leave), _told(ends.hurrying, hurry):
        async with create_task_group() as group:
            group.start_soon(_watched, server)
            try:
                await server.serve(door.sockets)
            finally:
                server.leave()
                group.cancel_scope.cancel()


async def heed_signals(*steps: Callable[[], None]) -> None:
    """Each signal takes the next step, and the last one again, until this is cancelled."""
    with open_signal_receiver(SIGINT, SIGTERM, SIGHUP) as signals:
        number = 0
        async for _ in signals:
            steps[min(number, len(steps) - 1)]()
            number += 1


@contextmanager
def _told(abort: Abort, do: Callable[[], None]) -> Generator[None]:
    unsubscribe = abort.subscribe(do)
    try:
        yield
    finally:
        unsubscribe()


def _configuration(application: Application, seconds: int) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        lifespan="off",
        ws="none",
        http=Connection,
        log_config=None,
        log_level="error",  # strangers could fill a file with warnings of what they send
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=seconds,
    )


async def _watched(server: _Server) -> None:
    while True:
        await sleep(_LOOK_SECONDS)
        end_overdue(server.server_state.connections, current_time())
