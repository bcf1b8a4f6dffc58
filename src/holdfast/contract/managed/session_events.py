"""Events of an agent's sessions, as their tools show them. Values, and the port behind those tools.

How they are found is not known here.
"""

from typing import Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.json_value import JsonObject


class EventsWanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which events; ``around`` wins over the others, and an id that is not there bounds nothing."""

    session_id: str | None = None
    after_event_id: str | None = None
    before_event_id: str | None = None
    around_event_id: str | None = None
    before_limit: int = 0
    after_limit: int = 0
    wake_id: str | None = None
    include_processed: bool = True
    types: tuple[str, ...] = ()
    limit: int = 20


class TraceWanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which events of a wake; none said: all of it."""

    wake_id: str
    session_id: str | None = None
    types: tuple[str, ...] = ()
    limit: int | None = None


class EventView(msgspec.Struct, frozen=True, kw_only=True):
    """An event, with long texts cut."""

    id: str
    type: str
    created_at: str
    processed_at: str | None
    wake_id: str | None
    payload: JsonObject


class EventList(msgspec.Struct, frozen=True, kw_only=True):
    """Events in the order they happened."""

    session_id: str
    count: int
    events: tuple[EventView, ...]
    artifact_paths: tuple[str, ...] = ()


class WakeTrace(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in one wake, in order."""

    session_id: str
    wake_id: str
    count: int
    events: tuple[EventView, ...]
    artifact_paths: tuple[str, ...] = ()


class TraceSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One wake at a glance; `session_get_trace` shows the whole."""

    wake_id: str
    started_at: str
    updated_at: str
    event_count: int
    event_types: tuple[str, ...]
    latest_summary: str | None


class TraceList(msgspec.Struct, frozen=True, kw_only=True):
    """The newest wakes of a session."""

    session_id: str
    traces: tuple[TraceSummary, ...]
    artifact_paths: tuple[str, ...] = ()


class SessionEvents(CallPort, Protocol):
    """Whoever reads the events of the agent's sessions again.

    Of a session that is not the agent's, all of it is PolicyDenied; where the store cannot be
    reached, Unavailable.
    """

    async def events(self, wanted: EventsWanted, /) -> EventList:
        """A stretch of a session's events, and of that the last ones that fit."""
        ...

    async def trace(self, wanted: TraceWanted, /) -> WakeTrace:
        """The events of one wake."""
        ...

    async def traces(self, session_id: str | None, limit: int, /) -> TraceList:
        """The newest wakes of a session, the newest first."""
        ...
