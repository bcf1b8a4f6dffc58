"""The runs of a session, each in short."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from holdfast.contract.events import (
    AgentMessage,
    Event,
    Payload,
    SpanCompleted,
    SpanStarted,
    UserMessage,
)
from holdfast.runtime.managed.wake_traces import MOST_TRACES, WakeTraces

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def _event(number: int, wake_id: str | None, payload: Payload) -> Event:
    return Event(
        session_id="ses_1",
        sequence=number,
        id=f"evt_{number}",
        at=BEGAN + timedelta(seconds=number),
        wake_id=wake_id,
        payload=payload,
        previous=b"",
        hash=b"",
    )


def _run(number: int, *, said: str = "Done.") -> list[Event]:
    wake = f"wak_{number}"
    first = number * 4
    span = {"span_id": wake, "span_kind": "wake", "name": "session_run"}
    return [
        _event(first, None, UserMessage(message="Go on.")),
        _event(first + 1, wake, SpanStarted(**_any(span))),
        _event(first + 2, wake, AgentMessage(message=said, summary=f"{said} {number}")),
        _event(first + 3, wake, SpanCompleted(**_any(span), result="success")),
    ]


def _any(fields: dict[str, Any]) -> dict[str, Any]:
    return fields


@pytest.mark.req("BOA-ART-18")
def test_the_newest_24_runs_are_told_by_when_they_were_and_what_they_said() -> None:
    traces = WakeTraces()
    for number in range(30):
        traces.take(_run(number))
    value: Any = traces.value("ses_1")
    assert (value["count"], MOST_TRACES) == (24, 24)
    assert [one["wake_id"] for one in value["traces"]] == [f"wak_{one}" for one in range(6, 30)]
    assert value["traces"][-1] == {
        "wake_id": "wak_29",
        "started_at": "2026-01-01T00:01:57Z",
        "updated_at": "2026-01-01T00:01:59Z",
        "event_count": 3,
        "event_types": ["span.started", "agent.message", "span.completed"],
        "latest_summary": "Done. 29",
    }


def test_a_run_that_is_told_piece_by_piece_is_told_as_at_once() -> None:
    whole, parts = WakeTraces(), WakeTraces()
    whole.take([*_run(0), *_run(1)])
    for event in (*_run(0), *_run(1)):
        parts.take([event])
    assert whole.value("x") == parts.value("x")
    assert (whole.sequence, parts.sequence) == (7, 7)
