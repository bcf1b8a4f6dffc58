"""What waits for a run, as events add up to it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from record.store_places import StorePlace
from record.stores import sqlite_at

from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CustomToolResult,
    CustomToolUse,
    EventsProcessed,
    InquiryAnswered,
    InquiryAsked,
    OutcomeDefined,
    Payload,
    SessionCreated,
    SpanCompleted,
    SpanResult,
    ToolConfirmation,
    ToolUse,
    UserInterrupt,
    UserMessage,
    WantedOutcome,
)
from holdfast.contract.journal import NotFitting
from holdfast.contract.person import PersonQuestion
from holdfast.contract.session_state import SessionState
from holdfast.contract.wake_events import (
    DirectiveTaken,
    Priority,
    WakeDeferred,
    WakeQueued,
    WakesCompleted,
)
from holdfast.record.codec import Stored, UnreadableEvent, event_of, micros_of, text_of
from holdfast.testing.fakes import FakeClock

S = "ses_1"
NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DEFERRED = WakeDeferred(until=NOON, attempt=3, reason="timeout")
ASKED: list[Payload] = [
    CallAsked(call_id="cal_1", tool="t", arguments="{}"),
    ApprovalAsked(approval_id="apr_1", call_id="cal_1", tool="t", arguments_hash="h", reason="r"),
]
INQUIRED: list[Payload] = [
    CallAsked(call_id="cal_2", tool="t", arguments="{}"),
    CallIntended(call_id="cal_2", tool="t", arguments_hash="h", grounds="g"),
    InquiryAsked(call_id="cal_2", questions=(PersonQuestion(question="Which?"),)),
]


def queued(
    name: str, *, minutes: int = 0, key: str | None = None, priority: Priority = "normal"
) -> WakeQueued:
    due = NOON + timedelta(minutes=minutes)
    return WakeQueued(
        queued_wake_id=name, due_at=due, reason="later", dedupe_key=key, priority=priority
    )


async def sum_of(path: Path, *payloads: Payload) -> SessionState:
    async with sqlite_at(path / "h.db")() as journal:
        await journal.create(S, [SessionCreated(agent_id="coder"), *payloads])
        return (await journal.session(S)).state


@pytest.mark.req("BOA-WAKE-01")
async def test_a_queued_wake_has_all_that_it_was_queued_with(place: StorePlace) -> None:
    clock = FakeClock()
    wanted = WakeQueued(
        queued_wake_id="qwk_1",
        due_at=NOON,
        reason="look again",
        note="the build",
        dedupe_key="build",
        priority="high",
    )
    async with place.opened(clock) as store:
        await store.journal.create(S, [SessionCreated(agent_id="coder")])
        (event,) = await store.journal.append(S, [wanted])
        session = await store.journal.session(S)
        (wake,) = session.state.wakes
        assert (session.id, wake.id, wake.reason) == (S, "qwk_1", "look again")
        assert (wake.note, wake.dedupe_key, wake.priority) == ("the build", "build", "high")
        assert (wake.created_micros, wake.due_micros) == (micros_of(event.at), micros_of(NOON))
        assert await store.archive.rebuild(S, repair=False) == ()


async def test_a_wake_is_of_normal_priority_unless_it_says_otherwise(tmp_path: Path) -> None:
    (wake,) = (await sum_of(tmp_path, queued("qwk_1"))).wakes
    assert (wake.priority, wake.note, wake.dedupe_key) == ("normal", None, None)


async def test_a_wake_of_the_same_key_leaves_the_one_that_is_queued(tmp_path: Path) -> None:
    state = await sum_of(
        tmp_path,
        *(queued("qwk_1", key="a"), queued("qwk_2", key="a", minutes=-5, priority="high")),
        *(queued("qwk_3", key="b"), queued("qwk_4"), queued("qwk_5")),
    )
    assert [one.id for one in state.wakes] == ["qwk_1", "qwk_3", "qwk_4", "qwk_5"]
    assert state.wakes[0].due_micros == micros_of(NOON)
    assert state.wakes[0].priority == "normal"


@pytest.mark.parametrize("cancelled", [True, False])
async def test_a_wake_that_is_over_makes_room_for_one_of_its_key(
    tmp_path: Path, cancelled: bool
) -> None:
    over = WakesCompleted(queued_wake_ids=("qwk_1", "qwk_nobody"), cancelled=cancelled)
    state = await sum_of(
        tmp_path, queued("qwk_1", key="a"), queued("qwk_2"), over, queued("qwk_3", key="a")
    )
    assert [one.id for one in state.wakes] == ["qwk_2", "qwk_3"]


@pytest.mark.parametrize(
    "said",
    [
        replace(queued("qwk_1"), due_at=datetime(2026, 1, 1)),  # noqa: DTZ001 - that is the point
        replace(DEFERRED, until=datetime(2026, 1, 1)),  # noqa: DTZ001 - that is the point
    ],
)
async def test_a_moment_without_a_time_zone_is_refused(tmp_path: Path, said: Payload) -> None:
    async with sqlite_at(tmp_path / "h.db")() as journal:
        await journal.create(S, [SessionCreated(agent_id="coder")])
        with pytest.raises(NotFitting, match="2026-01-01T00:00:00 has no time zone; give it one"):
            await journal.append(S, [said])
    row = Stored("s", 1, "evt_1", 0, None, "x", 1, text_of(said), b"", b"")
    with pytest.raises(UnreadableEvent, match="timezone"):
        event_of(row._replace(type=str(said.__struct_config__.tag)))


async def test_a_wake_is_queued_once_under_its_id(tmp_path: Path) -> None:
    state = await sum_of(tmp_path, queued("qwk_1"), queued("qwk_1", minutes=5))
    assert [one.due_micros for one in state.wakes] == [micros_of(NOON)]


async def test_what_people_say_waits_until_it_was_taken_into_account(tmp_path: Path) -> None:
    use = ToolUse(
        request_id="apr_1", tool_name="t", ownership="o", permission_policy="always_ask", input={}
    )
    said: list[Payload] = [
        UserMessage(message="hi"),
        OutcomeDefined(outcome=WantedOutcome(title="t")),
        UserInterrupt(),
        ToolConfirmation(request_id="apr_1", tool_name="t", allowed=True),
        CustomToolResult(request_id="cus_1", tool_name="t", output=""),
    ]
    async with sqlite_at(tmp_path / "h.db")() as journal:
        custom = CustomToolUse(request_id="cus_1", tool_name="t", input={})
        await journal.create(S, [SessionCreated(), use, custom])
        ids = [(await journal.append(S, [one]))[0].id for one in said]
        assert (await journal.session(S)).state.pending == tuple(ids)
        await journal.append(S, [EventsProcessed(event_ids=(ids[1], ids[3], "evt_nobody"))])
        assert (await journal.session(S)).state.pending == (ids[0], ids[2], ids[4])
        await journal.append(S, [EventsProcessed(event_ids=tuple(ids))])
        assert (await journal.session(S)).state.pending == ()


async def test_a_run_that_failed_defers_the_session_and_is_counted(tmp_path: Path) -> None:
    state = await sum_of(tmp_path, DEFERRED)
    assert (state.deferred_until, state.attempts) == (micros_of(NOON), 3)


@pytest.mark.parametrize(
    ("result", "attempts"), [("success", 0), ("blocked", 0), ("error", 3)], ids=str
)
async def test_failures_in_a_row_end_with_a_run_that_did_not_fail(
    tmp_path: Path, result: SpanResult, attempts: int
) -> None:
    tool = SpanCompleted(span_id="t", span_kind="tool", name="bash", result="success")
    ended = SpanCompleted(span_id="w", span_kind="wake", name="session_run", result=result)
    state = await sum_of(tmp_path, DEFERRED, tool, ended)
    assert state.attempts == attempts
    assert bool(state.deferred_until) == (result == "error")


@pytest.mark.parametrize(
    ("said", "deferred"),
    [
        (UserMessage(message="go on"), False),
        (OutcomeDefined(outcome=WantedOutcome(title="t")), False),
        (UserInterrupt(), False),
        (ApprovalAnswered(approval_id="apr_1", call_id="cal_1", allowed=True, by="ada"), False),
        (ApprovalAnswered(approval_id="apr_1", call_id="cal_1", allowed=False, by=None), True),
        (InquiryAnswered(call_id="cal_2", answers=(("this",),), by="ada"), False),
        (queued("qwk_1"), True),
    ],
)
async def test_whatever_a_person_says_ends_a_deferral_and_nothing_else_does(
    tmp_path: Path, said: Payload, deferred: bool
) -> None:
    state = await sum_of(tmp_path, *ASKED, *INQUIRED, DEFERRED, said)
    assert (state.deferred_until, state.attempts) == ((micros_of(NOON), 3) if deferred else (0, 0))


async def test_going_on_by_itself_is_counted_until_it_sleeps(tmp_path: Path) -> None:
    goes_on = DirectiveTaken(outcome="continue", summary="")
    sleeps = DirectiveTaken(outcome="sleep", summary="", enforced_by_runtime=True)
    assert (await sum_of(tmp_path, goes_on, goes_on)).continues == 2
    other = tmp_path / "other"
    assert (await sum_of(other, goes_on, sleeps, goes_on)).continues == 1
