"""The runs of a session, each in short, as its events tell them: taken in as they come."""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from holdfast.contract.events import AgentMessage, Event, SpanCompleted
from holdfast.contract.json_value import JsonObject, JsonValue

MOST_TRACES = 24
_LONGEST_SUMMARY = 400


class WakeTrace(msgspec.Struct):
    """One run, as far as it is known."""

    wake_id: str
    started_at: datetime
    updated_at: datetime
    event_count: int = 0
    event_types: list[str] = []
    """Each kind once, in the order they came first."""
    latest_summary: str = ""


class WakeTraces:
    """The newest runs of one session."""

    def __init__(self) -> None:
        self.sequence = 0
        """The number of the last event that was taken in."""
        self._known: dict[str, WakeTrace] = {}

    def take(self, events: Iterable[Event]) -> None:
        """Take further events in, in their order."""
        for event in events:
            self.sequence = event.sequence
            if event.wake_id is not None:
                self._add(event, event.wake_id)
        for wake_id in [*self._known][:-MOST_TRACES]:
            del self._known[wake_id]

    def value(self, session_id: str) -> JsonObject:
        """The newest, the oldest of them first."""
        rows: list[JsonValue] = [msgspec.to_builtins(one) for one in self._known.values()]
        return {"session_id": session_id, "count": len(rows), "traces": rows}

    def _add(self, event: Event, wake_id: str) -> None:
        found = self._known.get(wake_id)
        if found is None:
            found = self._known[wake_id] = WakeTrace(wake_id, event.at, event.at)
        found.updated_at = event.at
        found.event_count += 1
        if event.type not in found.event_types:
            found.event_types.append(event.type)
        match event.payload:
            case (
                AgentMessage(summary=str(summary))
                | SpanCompleted(span_kind="wake", summary=str(summary))
            ) if summary:
                found.latest_summary = summary[:_LONGEST_SUMMARY]
            case _:
                pass
