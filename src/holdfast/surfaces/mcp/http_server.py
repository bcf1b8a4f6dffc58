"""Listening for clients over HTTP, with uvicorn, until a signal ends it."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from secrets import token_urlsafe
from signal import SIGHUP, SIGINT, SIGTERM

import msgspec
import uvicorn
from anyio import (
    CancelScope,
    create_task_group,
    create_tcp_listener,
    current_time,
    move_on_after,
    open_signal_receiver,
    sleep,
)
from anyio.abc import SocketAttribute

from holdfast.surfaces.mcp.http_app import PATH, App
from holdfast.surfaces.mcp.http_connections import Connection, end_overdue
from holdfast.surfaces.mcp.http_rules import Door, is_loopback
from holdfast.surfaces.mcp.http_sessions import Sessions
from holdfast.surfaces.mcp.remarks import Remarks
from holdfast.surfaces.mcp.served import Open

__all__ = ["Listening", "is_loopback", "serve"]

_ENDING_SECONDS = 2
_LOOK_SECONDS = 1.0


class Listening(msgspec.Struct, frozen=True, kw_only=True):
    """Where, and for whom."""

    host: str
    port: int
    """0: any that is free."""
    names: tuple[str, ...] = ()
    token: str | None = None
    """None: one is made up, and told once."""


class _Server(uvicorn.Server):
    """Ends when it is told to; signals are somebody else's business."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave them alone: sessions have to be closed before the process ends."""
        yield


async def serve(make: Open, listening: Listening, tell: Callable[[str], None]) -> None:
    """Answer until a signal comes; OSError when the address cannot be listened on."""
    token = listening.token or token_urlsafe(32)
    listener = await create_tcp_listener(local_host=listening.host, local_port=listening.port)
    async with listener, create_task_group() as watching, create_task_group() as group:
        sessions = Sessions(make, group, Remarks(tell))
        app = App(Door(listening.names, token), sessions)
        async with sessions.shared.holdfast:
            server = _Server(_configuration(app))
            watching.start_soon(sessions.watch)
            watching.start_soon(sessions.shared.watch)
            watching.start_soon(_ended, server, sessions)
            watching.start_soon(_watched, server)
            host = f"[{listening.host}]" if ":" in listening.host else listening.host
            port = listener.extra(SocketAttribute.local_port)
            tell(f"listening on http://{host}:{port}{PATH}")
            if listening.token is None:
                tell(f"clients have to send this token: {token}")
            sockets = [one.extra(SocketAttribute.raw_socket) for one in listener.listeners]
            try:
                await server.serve(sockets)
            finally:
                with CancelScope(shield=True):
                    sessions.end_all()
                    with move_on_after(_ENDING_SECONDS):
                        await sessions.everybody.idle()
                    await sessions.everybody.close()
        watching.cancel_scope.cancel()
        group.cancel_scope.deadline = current_time() + _ENDING_SECONDS


def _configuration(app: App) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="off",
        ws="none",
        http=Connection,
        log_config=None,
        log_level="error",  # strangers could fill a file with warnings of what they send
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=_ENDING_SECONDS,
    )


async def _watched(server: _Server) -> None:
    while True:
        await sleep(_LOOK_SECONDS)
        end_overdue(server.server_state.connections, current_time())


async def _ended(server: _Server, sessions: Sessions) -> None:
    with open_signal_receiver(SIGINT, SIGTERM, SIGHUP) as signals:
        async for _ in signals:
            sessions.end_all()
            server.should_exit = True
