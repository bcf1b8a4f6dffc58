"""The wakes of a session as its events tell them: when each began and ended, and what came of it.

Read from events alone; which wakes wait to be run is not known here.
"""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from holdfast.contract.events import (
    AgentMessage,
    Event,
    SpanCompleted,
    SpanResult,
    StatusChanged,
    StatusIdle,
)


class Wake(msgspec.Struct, kw_only=True):
    """One run over a session."""

    wake_id: str
    started_at: datetime
    updated_at: datetime
    completed_at: datetime | None = None
    """None: it did not end, or nobody wrote that down."""
    result: SpanResult | None = None
    reason: str | None = None
    """Why it was run."""
    event_count: int = 0
    event_types: list[str] = []
    latest_summary: str | None = None


def add_to(wakes: dict[str, Wake], events: Iterable[Event]) -> None:
    """Take further events of a session into account."""
    for event in events:
        if event.wake_id is not None:
            fresh = Wake(wake_id=event.wake_id, started_at=event.at, updated_at=event.at)
            _add(wakes.setdefault(event.wake_id, fresh), event)


def _add(wake: Wake, event: Event) -> None:
    wake.updated_at = event.at
    wake.event_count += 1
    if event.type not in wake.event_types:
        wake.event_types.append(event.type)
    match event.payload:
        case SpanCompleted(span_kind="wake", result=result, summary=summary):
            wake.completed_at, wake.result = event.at, result
            wake.latest_summary = summary or wake.latest_summary
        case StatusChanged(to_status="running", reason=reason):
            wake.reason = reason
        case AgentMessage(summary=summary) | StatusIdle(summary=summary):
            wake.latest_summary = summary
        case _:
            return
