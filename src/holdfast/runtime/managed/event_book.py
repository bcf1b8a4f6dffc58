"""The events of an agent's sessions, read again: stretches of them, wakes, what a wake was about.

Everything comes from the journal. Long texts are cut, and values of variables are never told.
"""

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import cast

from holdfast.contract.events import (
    AgentMessage,
    Event,
    ModelReplied,
    SpanCompleted,
    SpanStarted,
    StatusIdle,
)
from holdfast.contract.journal import EventQuery, Journal, Session
from holdfast.contract.json_value import JsonObject, JsonValue, decode_json, encode_json
from holdfast.contract.managed.session_events import (
    EventList,
    EventsWanted,
    EventView,
    TraceList,
    TraceSummary,
    TraceWanted,
    WakeTrace,
)
from holdfast.contract.managed_events import ShellChanged
from holdfast.contract.truncate import cut_text
from holdfast.runtime.managed.bounded_view import bounded_object
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.reading import reading
from holdfast.runtime.managed.session_folders import shown_of

LONGEST_SUMMARY = 400
_SETS_VARIABLES = "shell_set_env"
_NOT_SHOWN = "(not shown)"
_PAGE = 200


class EventBook:
    """As one session sees it."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def events(self, wanted: EventsWanted, /) -> EventList:
        """A stretch of a session's events, and of that the last ones that fit."""
        query = EventQuery(
            after=wanted.after_event_id,
            before=wanted.before_event_id,
            around=wanted.around_event_id,
            before_limit=wanted.before_limit,
            after_limit=wanted.after_limit,
            types=wanted.types,
            wake_id=wanted.wake_id,
            processed=None if wanted.include_processed else False,
            limit=wanted.limit,
        )
        session, found = await self._found(wanted.session_id, query)
        return EventList(
            session_id=session.id,
            count=len(found),
            events=_seen(found),
            artifact_paths=await shown_of(self._ground, session.id, "event_feed"),
        )

    async def trace(self, wanted: TraceWanted, /) -> WakeTrace:
        """The events of one wake."""
        query = EventQuery(
            wake_id=wanted.wake_id, types=wanted.types, limit=wanted.limit or sys.maxsize
        )
        session, found = await self._found(wanted.session_id, query)
        return WakeTrace(
            session_id=session.id,
            wake_id=wanted.wake_id,
            count=len(found),
            events=_seen(found),
            artifact_paths=await shown_of(self._ground, session.id, "wake_traces"),
        )

    async def traces(self, session_id: str | None, limit: int, /) -> TraceList:
        """The newest wakes of a session, the newest first."""
        session = await self._ground.session(session_id)
        found: list[TraceSummary] = []
        with reading():
            journal = (await self._ground.stores()).journal
            for wake_id in await _newest_wakes(journal, session.id, limit):
                query = EventQuery(wake_id=wake_id, limit=sys.maxsize)
                found.append(_summary(wake_id, await journal.find(session.id, query)))
        return TraceList(
            session_id=session.id,
            traces=tuple(found),
            artifact_paths=await shown_of(self._ground, session.id, "wake_traces"),
        )

    async def _found(
        self, session_id: str | None, query: EventQuery
    ) -> tuple[Session, Sequence[Event]]:
        session = await self._ground.session(session_id)
        with reading():
            journal = (await self._ground.stores()).journal
            return session, await journal.find(session.id, query)


async def _newest_wakes(journal: Journal, session_id: str, limit: int) -> Sequence[str]:
    """The wakes of a session, the newest first: each begins with a span of its own."""
    found: dict[str, None] = {}
    before: str | None = None
    while True:
        query = EventQuery(before=before, types=("span.started",), limit=_PAGE)
        page = await journal.find(session_id, query)
        for event in reversed(page):
            match event.payload:
                case SpanStarted(span_kind="wake") if event.wake_id is not None:
                    found[event.wake_id] = None
                case _:
                    pass
        if len(page) < _PAGE or len(found) >= limit:
            return list(found)[:limit]
        before = page[0].id


def _summary(wake_id: str, events: Sequence[Event]) -> TraceSummary:
    said = [text for event in events if (text := _said(event))]
    return TraceSummary(
        wake_id=wake_id,
        started_at=events[0].at.isoformat(),
        updated_at=events[-1].at.isoformat(),
        event_count=len(events),
        event_types=tuple(dict.fromkeys(event.type for event in events)),
        latest_summary=cut_text(said[-1], LONGEST_SUMMARY) if said else None,
    )


def _said(event: Event) -> str | None:
    match event.payload:
        case AgentMessage(summary=summary, message=message):
            return summary or message
        case StatusIdle(summary=summary):
            return summary
        case SpanCompleted(span_kind="wake", summary=summary):
            return summary
        case _:
            return None


def _seen(events: Sequence[Event]) -> tuple[EventView, ...]:
    return tuple(map(event_view, events))


def event_view(event: Event) -> EventView:
    """An event as it is shown."""
    return EventView(
        id=event.id,
        type=event.type,
        created_at=event.at.isoformat(),
        processed_at=None if event.processed_at is None else event.processed_at.isoformat(),
        wake_id=event.wake_id,
        payload=bounded_object(_told(event)),
    )


def _told(event: Event) -> JsonObject:
    """What it says, without values of variables."""
    # Written and read: an answer is kept as the bytes it was given as, and shown as what they say.
    told = cast("JsonObject", decode_json(encode_json(event.payload)))
    told.pop("type", None)
    if isinstance(event.payload, ShellChanged):
        told["set_env"] = [name for name, _ in event.payload.set_env]
    if _SETS_VARIABLES in (told.get("tool"), told.get("tool_name")):
        for name in ("arguments", "input"):
            if name in told:
                told[name] = _without_value(told[name])
    if isinstance(event.payload, ModelReplied):
        told["reply"] = _without_values(told["reply"])
    return told


def _without_values(reply: JsonValue) -> JsonValue:
    """A reply, whose calls set variables without saying to what."""
    calls = reply.get("calls") if isinstance(reply, dict) else None
    if not isinstance(reply, dict) or not isinstance(calls, list):
        return reply
    return {**reply, "calls": [_call_without_value(one) for one in calls]}


def _call_without_value(call: JsonValue) -> JsonValue:
    if not isinstance(call, dict) or call.get("name") != _SETS_VARIABLES:
        return call
    return {**call, "arguments": _without_value(call.get("arguments"))}


def _without_value(arguments: JsonValue) -> JsonValue:
    if isinstance(arguments, str):
        with suppress(ValueError):
            return _without_value(decode_json(arguments))
        return _NOT_SHOWN
    if isinstance(arguments, dict):
        # A value may stand under a misspelt name, or inside of a wrapper: only the key is shown.
        return {
            name: said if name == "key" and isinstance(said, str) else _NOT_SHOWN
            for name, said in arguments.items()
        }
    return _NOT_SHOWN
