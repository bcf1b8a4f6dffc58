"""When a session has to be run, and which one goes first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.session_state import OpenCall, SessionState, due_micros, urgency
from holdfast.contract.wake_events import Priority, QueuedWake

PARKED = 253_370_764_800_000_000
"""The year 9999, in microseconds."""


def wake(due: int, priority: Priority = "normal", name: str = "qwk_1") -> QueuedWake:
    return QueuedWake(id=name, created_micros=1, due_micros=due, reason="r", priority=priority)


def state(**fields: object) -> SessionState:
    return SessionState(agent_id="coder", **fields)  # type: ignore[arg-type] - its fields


ANSWERED = {"cal_1": OpenCall("msg_1", 0, "answered", "apr_1", allowed=True)}
REPLIED = {"cal_1": OpenCall("msg_1", 0, "replied")}
ASKED = {"cal_1": OpenCall("msg_1", 0, "waiting", "apr_1")}


@pytest.mark.parametrize(
    ("session", "due"),
    [
        (SessionState(pending=("evt_1",), wakes=(wake(5),)), None),
        (state(), None),
        (state(parent_id="ses_0", status="running", pending=("evt_1",)), None),
        (state(status="requires_action", calls=ASKED), None),
        (state(status="terminated", pending=("evt_1",), wakes=(wake(5),)), None),
        (state(status="running"), 0),
        (state(status="running", deferred_until=9), 0),
        (state(pending=("evt_1",)), 0),
        (state(pending=("evt_1",), wakes=(wake(5),)), 0),
        (state(pending=("evt_1",), deferred_until=9), 9),
        (state(calls=ANSWERED), 0),
        (state(calls=REPLIED), 0),
        (state(calls=ANSWERED, deferred_until=9), 9),
        (state(wakes=(wake(7), wake(5))), 5),
        (state(wakes=(wake(5),), deferred_until=9), 9),
        (state(wakes=(wake(12),), deferred_until=9), 12),
        (state(deferred_until=9), None),
        (state(pending=("evt_1",), deferred_until=PARKED), None),
        (state(wakes=(wake(5),), deferred_until=PARKED), None),
    ],
)
def test_from_when_on_a_session_has_to_be_run(session: SessionState, due: int | None) -> None:
    assert due_micros(session) == due


def test_what_people_said_goes_before_wakes_and_wakes_go_by_priority_then_by_time() -> None:
    order = [
        state(pending=("evt_1",)),
        state(pending=("evt_1",), deferred_until=3),
        state(wakes=(wake(2, "high"),)),
        state(wakes=(wake(9, "high"),)),
        state(wakes=(wake(1),)),
        state(wakes=(wake(2),)),
        state(wakes=(wake(1, "low"),)),
        state(),
    ]
    mixed = [*order[1::2], *order[::2]]
    assert sorted(mixed, key=urgency) == order


def test_of_the_wakes_of_a_session_the_most_urgent_that_is_due_counts() -> None:
    session = state(wakes=(wake(1, "low"), wake(8, "high")))
    assert urgency(session) == (0, 1, 8)
    assert urgency(session, 5) == (2, 1, 1)
    assert urgency(session, 8) == (0, 1, 8)
    assert urgency(state(wakes=(wake(8),)), 5) == (1, 1, 8)


def test_what_is_left_running_or_answered_goes_with_what_people_said() -> None:
    assert urgency(state(status="running")) == (0, 0, 0)
    assert urgency(state(calls=REPLIED, deferred_until=4)) == (0, 0, 4)


@given(st.lists(st.integers(0, 99), min_size=1), st.integers(0, 99))
def test_no_wake_is_early_and_the_first_one_decides(dues: list[int], deferred: int) -> None:
    due = due_micros(state(wakes=tuple(map(wake, dues)), deferred_until=deferred))
    assert due == max(deferred, min(dues))
