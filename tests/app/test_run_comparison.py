"""How far two tellings of a run agree: a moment may be later, as long as a clock may have been."""

from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from holdfast.app.run_comparison import Comparison, RunDiverged
from holdfast.app.run_recording import RecordedWake
from holdfast.contract.events import Event, Payload, StatusIdle, UserMessage
from holdfast.contract.wake_events import WakeDeferred

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def event(number: int, milliseconds: int, payload: Payload) -> Event:
    return Event(
        session_id="ses_1",
        sequence=number,
        id=f"evt_{number}",
        at=BEGAN + timedelta(milliseconds=milliseconds),
        wake_id="wak_1",
        payload=payload,
        previous=b"",
        hash=b"",
    )


def deferred(milliseconds: int) -> WakeDeferred:
    until = BEGAN + timedelta(milliseconds=milliseconds)
    return WakeDeferred(until=until, attempt=1, reason="Wake failed")


@pytest.mark.parametrize(("late", "agrees"), [(0, True), (3, True), (5, True), (6, False)])
def test_what_is_written_at_once_may_have_been_decided_since_the_append_before(
    late: int, agrees: bool
) -> None:
    """The clock was looked at between both; which event of the append it is says nothing."""
    events = [
        event(1, 0, UserMessage(message="Go.")),
        event(2, 5, StatusIdle(reason="idle", summary="")),
        event(3, 5, deferred(2000)),
    ]
    comparison = Comparison(events)
    wake = cast("RecordedWake", _Wake(events[0]))
    told = [deferred(2000 + late)]
    if agrees:
        assert comparison.agreed(2, told, "wak_1", wake) == [events[2]]
    else:
        with pytest.raises(RunDiverged):
            comparison.agreed(2, told, "wak_1", wake)


class _Wake:
    def __init__(self, first: Event) -> None:
        self.first = first
