"""Serving the protocol over HTTP until a signal ends it."""

from collections.abc import Callable

from anyio import CancelScope, create_task_group, current_time, move_on_after

from holdfast.app.http_door.listening import Listening, answering, is_loopback, open_door
from holdfast.app.http_door.rules import Door
from holdfast.surfaces.mcp.http_app import PATH, App
from holdfast.surfaces.mcp.http_sessions import Sessions
from holdfast.surfaces.mcp.remarks import Remarks
from holdfast.surfaces.mcp.served import Open

__all__ = ["Listening", "is_loopback", "serve"]

_ENDING_SECONDS = 2


async def serve(make: Open, listening: Listening, tell: Callable[[str], None]) -> None:
    """Answer until a signal comes; OSError when the address cannot be listened on."""
    async with (
        open_door(listening) as door,
        create_task_group() as watching,
        create_task_group() as group,
    ):
        sessions = Sessions(make, group, Remarks(tell))
        app = App(Door(listening.names, door.token), sessions)
        async with sessions.shared.holdfast:
            watching.start_soon(sessions.watch)
            watching.start_soon(sessions.shared.watch)
            tell(f"listening on {door.address}{PATH}")
            if listening.token is None:
                tell(f"clients have to send this token: {door.token}")
            try:
                await answering(app, door, sessions.end_all, _ENDING_SECONDS)
            finally:
                with CancelScope(shield=True):
                    sessions.end_all()
                    with move_on_after(_ENDING_SECONDS):
                        await sessions.everybody.idle()
                    await sessions.everybody.close()
        watching.cancel_scope.cancel()
        group.cancel_scope.deadline = current_time() + _ENDING_SECONDS
