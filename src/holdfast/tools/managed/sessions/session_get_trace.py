"""`session_get_trace`: what happened in one wake, step by step."""

from msgspec import UNSET, UnsetType

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.managed.session_events import SessionEvents, TraceWanted, WakeTrace
from holdfast.contract.tool import Limits, OutputBound
from holdfast.tools.managed.sessions.bounds import Most, given, names_of, said


@builtin(
    read_only=True,
    effects=("session_read",),
    acp_kind="read",
    interrupt_behavior="cancel",
    limits=Limits(output=OutputBound(fields=("events",))),
)
async def session_get_trace(
    wake_id: str,
    events: SessionEvents,
    session_id: str | UnsetType = UNSET,
    types: tuple[str, ...] = (),
    limit: Most | UnsetType = UNSET,
) -> WakeTrace:
    """Reread one wake whole, in order, or the last `limit` of its events of these types."""
    named = wake_id.strip()
    if not named:
        raise InvalidArguments("session_get_trace requires a non-empty wake_id", field="wake_id")
    wanted = TraceWanted(
        wake_id=named, session_id=said(session_id), types=names_of(types), limit=given(limit)
    )
    return await events.trace(wanted)
