"""`session_get_events`: events of a session, read again."""

from msgspec import UNSET, UnsetType

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.session_events import EventList, EventsWanted, SessionEvents
from holdfast.contract.tool import Limits, OutputBound
from holdfast.tools.managed.sessions.bounds import Beside, Events, names_of, said


@builtin(
    read_only=True,
    effects=("session_read",),
    acp_kind="read",
    interrupt_behavior="cancel",
    limits=Limits(output=OutputBound(fields=("events",))),
)
async def session_get_events(  # noqa: PLR0913 - the arguments that the contract names, and the port
    events: SessionEvents,
    session_id: str | UnsetType = UNSET,
    after_event_id: str | UnsetType = UNSET,
    before_event_id: str | UnsetType = UNSET,
    around_event_id: str | UnsetType = UNSET,
    before_limit: Beside = 0,
    after_limit: Beside = 0,
    wake_id: str | UnsetType = UNSET,
    include_processed: bool = True,  # noqa: FBT001, FBT002 - a model names every argument
    limit: Events = 20,
    types: tuple[str, ...] = (),
) -> EventList:
    """Reread a session's events: the last `limit` that fit. around_event_id, with before_limit
    and after_limit, replaces after and before."""
    wanted = EventsWanted(
        session_id=said(session_id),
        after_event_id=said(after_event_id),
        before_event_id=said(before_event_id),
        around_event_id=said(around_event_id),
        before_limit=max(before_limit, 0),
        after_limit=max(after_limit, 0),
        wake_id=said(wake_id),
        include_processed=include_processed,
        types=names_of(types),
        limit=limit,
    )
    return await events.events(wanted)
