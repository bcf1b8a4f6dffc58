"""What events add up to: status, requests, usage, and what a person is shown of it."""

from datetime import timedelta
from pathlib import Path

import pytest
from msgspec import Raw
from msgspec.structs import replace
from record.stores import sqlite_at

from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallSettled,
    CustomToolResult,
    CustomToolUse,
    ModelReplied,
    OutcomeDefined,
    Payload,
    SessionClosed,
    SessionCreated,
    SessionStatus,
    SpanCompleted,
    StatusChanged,
    StatusIdle,
    ToolConfirmation,
    ToolUse,
    UserInterrupt,
    UserMessage,
    WantedOutcome,
)
from holdfast.contract.journal import EventQuery
from holdfast.contract.session_state import ReportedStatus, SessionState, reported
from holdfast.contract.wake_events import PARKED_UNTIL, WakeDeferred

pytestmark = pytest.mark.anyio

S = "ses_1"
LEFT_ALONE = WakeDeferred(until=PARKED_UNTIL, attempt=0, reason="imported")
RUNS = StatusChanged(from_status="idle", to_status="running", reason="a wake")
CONFIRM = ToolUse(
    request_id="apr_1", tool_name="t", ownership="o", permission_policy="always_ask", input={}
)
CUSTOM = CustomToolUse(request_id="cus_1", tool_name="t", input={})
PAUSED = StatusIdle(reason="requires_action", summary="waits", blocking_event_ids=("evt_1",))
ASKED = CallAsked(call_id="cal_1", tool="t", arguments="{}")
QUESTION = ApprovalAsked(
    approval_id="apr_1", call_id="cal_1", tool="t", arguments_hash="h", reason="r"
)


async def sum_of(path: Path, *payloads: Payload) -> SessionState:
    async with sqlite_at(path / "h.db")() as journal:
        await journal.create(S, [SessionCreated(), *payloads])
        return (await journal.session(S)).state


async def test_what_a_session_was_made_with_is_kept(tmp_path: Path) -> None:
    made = SessionCreated(
        agent_id="coder", profile="code", workspace="/w", parent_id="ses_0", metadata={"a": 1}
    )
    async with sqlite_at(tmp_path / "h.db")() as journal:
        await journal.create(S, [made])
        state = (await journal.session(S)).state
    assert (state.agent_id, state.environment_id, state.profile) == (
        *("coder", "local-default", "code"),
    )
    assert (state.workspace, state.parent_id, state.metadata) == ("/w", "ses_0", {"a": 1})
    assert (state.status, state.stop_reason, state.turns, state.title) == ("idle", "idle", 0, None)


@pytest.mark.parametrize("before", [[], [PAUSED], [RUNS], [SessionClosed(reason="x")]])
async def test_an_outcome_that_whoever_works_on_it_defined_makes_nothing_runnable(
    tmp_path: Path, before: list[Payload]
) -> None:
    said = OutcomeDefined(outcome=WantedOutcome(title="t"), known=True)
    async with sqlite_at(tmp_path / "h.db")() as journal:
        await journal.create(S, [SessionCreated(), *before])
        was = (await journal.session(S)).state
        await journal.append(S, [said])
        found = (await journal.session(S)).state
        assert found.managed is not None
        assert found.managed.outcome_title == "t"
        assert replace(found, managed=None) == was


@pytest.mark.req("BOA-EVT-16")
@pytest.mark.parametrize(
    "said",
    [
        UserMessage(message="hi"),
        OutcomeDefined(outcome=WantedOutcome(title="t")),
        UserInterrupt(),
        ToolConfirmation(request_id="apr_1", tool_name="t", allowed=True),
        CustomToolResult(request_id="cus_1", tool_name="t", output=""),
    ],
)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([], ("rescheduling", "rescheduling")),
        ([PAUSED], ("rescheduling", "rescheduling")),
        ([RUNS], ("running", "idle")),
        ([SessionClosed(reason="x")], ("terminated", "terminated")),
    ],
)
async def test_what_people_say_makes_a_session_runnable_unless_it_runs_or_is_over(
    tmp_path: Path, said: Payload, before: list[Payload], after: tuple[str, str]
) -> None:
    state = await sum_of(tmp_path, CONFIRM, CUSTOM, *before, said)
    assert (state.status, state.stop_reason) == after


@pytest.mark.req("BOA-SES-02")
async def test_a_session_goes_from_state_to_state(tmp_path: Path) -> None:
    states: tuple[SessionStatus, ...] = (
        *("running", "rescheduling", "requires_action", "idle", "terminated"),
    )
    async with sqlite_at(tmp_path / "h.db")() as journal:
        await journal.create(S, [SessionCreated()])
        for state in states:
            changed = StatusChanged(from_status="idle", to_status=state, reason="r")
            await journal.append(S, [changed])
            found = (await journal.session(S)).state
            assert found.status == state
            assert found.stop_reason == ("idle" if state == "running" else state)


@pytest.mark.req("SPEC-REC-21")
@pytest.mark.parametrize(
    ("payloads", "shown"),
    [
        ([], "idle"),
        ([RUNS], "busy"),
        ([UserMessage(message="x")], "retrying"),
        ([UserMessage(message="x"), LEFT_ALONE], "idle"),
        ([UserMessage(message="x"), LEFT_ALONE, UserMessage(message="y")], "retrying"),
        ([CONFIRM, PAUSED], "waiting_on_approval"),
        ([CUSTOM, PAUSED], "waiting_on_user_input"),
        ([RUNS, ASKED, QUESTION], "waiting_on_approval"),
        (
            [
                *(RUNS, ASKED, QUESTION),
                ApprovalAnswered(approval_id="apr_1", call_id="cal_1", allowed=True, by="a"),
            ],
            "busy",
        ),
        (
            [
                *(RUNS, SpanCompleted(span_id="w", span_kind="wake", name="n", result="error")),
                StatusIdle(reason="idle", summary="Wake failed"),
            ],
            "error",
        ),
    ],
)
async def test_what_a_session_is_shown_to_be_doing(
    tmp_path: Path, payloads: list[Payload], shown: ReportedStatus
) -> None:
    assert reported(await sum_of(tmp_path, *payloads)) == shown


async def test_what_is_over_is_idle_or_failed() -> None:
    over = SessionState(status="terminated")
    assert reported(over) == "idle"
    assert reported(SessionState(status="terminated", failed=True)) == "error"


async def test_turns_usage_and_the_title_add_up(tmp_path: Path) -> None:
    def replied(**usage: int) -> ModelReplied:
        return ModelReplied(request_id="m", reply={}, usage={**usage, "model": "x"})

    wake = SpanCompleted(span_id="w", span_kind="wake", name="session_run", result="success")
    tool = SpanCompleted(span_id="t", span_kind="tool", name="bash", result="error")
    state = await sum_of(
        tmp_path,
        *(UserMessage(message=f"  {'x' * 100}\nmore"), UserMessage(message="second")),
        *(replied(input=3, output=1), replied(input=4), wake, tool, wake),
    )
    assert state.title == "x" * 80
    assert state.usage == {"input": 7, "output": 1}
    assert (state.turns, state.failed) == (2, False)


async def test_open_calls_are_those_without_an_answer(tmp_path: Path) -> None:
    other = CallAsked(call_id="cal_2", tool="t", arguments="not json")
    settled = CallSettled(call_id="cal_1", tool="t", envelope=Raw(b'{"ok":true,"result":1}'))
    state = await sum_of(tmp_path, ASKED, other, settled)
    assert list(state.calls) == ["cal_2"]
    assert (state.calls["cal_2"].stage, state.calls["cal_2"].part) == ("asked", 1)


async def test_events_are_found_by_place_kind_wake_and_whether_they_wait(tmp_path: Path) -> None:
    async with sqlite_at(tmp_path / "h.db")() as journal:
        await journal.create(S, [SessionCreated()])
        for number in range(6):
            wake = f"wak_{number // 2}"
            await journal.append(S, [UserMessage(message=f"{number}"), RUNS], wake_id=wake)
        every = await journal.events(S)
        ids = [event.id for event in every]

        async def found(**wanted: object) -> list[int]:
            query = EventQuery(**wanted)  # type: ignore[arg-type] - the fields of a query
            return [event.sequence for event in await journal.find(S, query)]

        assert await found() == list(range(1, 14))
        assert await found(limit=3) == [11, 12, 13]
        assert await found(after=ids[9]) == [11, 12, 13]
        assert await found(before=ids[2]) == [1, 2]
        assert await found(after=ids[1], before=ids[5]) == [3, 4, 5]
        assert await found(around=ids[5], before_limit=1, after_limit=2) == [5, 6, 7, 8]
        assert await found(around=ids[5], before_limit=0, after_limit=0, after=ids[0]) == [6]
        assert await found(after="evt_nobody") == list(range(1, 14))
        assert await found(around="evt_d0f0eddaaf00XZVEwp0d000003") == list(range(1, 14))
        assert await found(types=("user.message",), limit=2) == [10, 12]
        assert await found(wake_id="wak_1") == [6, 7, 8, 9]
        assert await found(processed=False) == [2, 4, 6, 8, 10, 12]
        assert await found(processed=True, wake_id="wak_0") == [3, 5]
        assert (await journal.session(S)).updated_at == every[-1].at
        assert every[0].at <= every[-1].at < every[0].at + timedelta(minutes=1)
