"""Every kind of event, kept in a real store and read back on the wire with its fields."""

import json
from typing import Any, get_args

import pytest
from msgspec import Raw
from record.session_texts import in_a_store

from holdfast.contract import events
from holdfast.contract.events import Payload, SessionCreated, SessionStatus, StopReason
from holdfast.contract.json_value import JsonObject
from holdfast.contract.session_state import ReportedStatus, reported
from holdfast.record.export import event_line, session_document
from holdfast.record.importing import UnreadableExport, read_events
from holdfast.record.store import Store
from holdfast.testing.fakes import FakeClock

NAME = "ses_1"


def on_the_wire(*payloads: Payload, wake_id: str | None = None) -> list[dict[str, Any]]:
    """What a reader of the wire sees of events, behind the one that begins the session."""

    async def work(store: Store, _clock: FakeClock) -> list[dict[str, Any]]:
        await store.journal.create(NAME, [SessionCreated()])
        await store.journal.append(NAME, payloads, wake_id=wake_id)
        return [json.loads(event_line(one)) for one in await store.journal.events(NAME, after=1)]

    return in_a_store(work)


@pytest.mark.req("BOA-EVT-01")
def test_every_event_has_an_id_a_type_and_times_and_may_have_a_wake() -> None:
    said = events.UserMessage(message="a")
    (waits,) = on_the_wire(said)
    assert waits["id"].startswith("evt_")
    assert waits["type"] == "user.message"
    assert waits["created_at"] == "2026-01-01T00:00:00.000000Z"
    assert waits["processed_at"] is None
    assert (waits["sequence"], waits["version"]) == (2, 1)
    assert "wake_id" not in waits
    (happened,) = on_the_wire(events.SessionClosed(reason="done"), wake_id="wak_1")
    assert happened["processed_at"] == happened["created_at"]
    assert happened["wake_id"] == "wak_1"


@pytest.mark.req("BOA-EVT-01")
def test_what_was_taken_into_account_says_when() -> None:
    async def work(store: Store, clock: FakeClock) -> list[dict[str, Any]]:
        await store.journal.create(NAME, [SessionCreated()])
        (said,) = await store.journal.append(NAME, [events.UserMessage(message="a")])
        clock.advance(2.5)
        await store.journal.append(NAME, [events.EventsProcessed(event_ids=(said.id,))])
        return [json.loads(event_line(one)) for one in await store.journal.events(NAME, after=1)]

    said, _ = in_a_store(work)
    assert said["created_at"] == "2026-01-01T00:00:00.000000Z"
    assert said["processed_at"] == "2026-01-01T00:00:02.500000Z"


REQUEST = {"request_id": "req_1", "tool_name": "bash"}
USE = events.ToolUse(**REQUEST, ownership="m", permission_policy="always_ask", input={"a": [1]})
CUSTOM = events.CustomToolUse(**REQUEST, input={"b": None})
STARTED: dict[str, Any] = {
    "span_id": "spn_1",
    "parent_span_id": "wak_1",
    "span_kind": "tool",
    "name": "bash",
    "summary": "ran it",
}


@pytest.mark.parametrize(
    ("payloads", "kind", "fields"),
    [
        pytest.param(
            [events.UserMessage(message="Grüße\n")],
            "user.message",
            {"message": "Grüße\n"},
            marks=pytest.mark.req("BOA-EVT-02"),
        ),
        pytest.param(
            [
                events.OutcomeDefined(
                    outcome=events.WantedOutcome(title="t", detail="d", success_criteria=("a", "b"))
                )
            ],
            "user.define_outcome",
            {"outcome": {"title": "t", "detail": "d", "success_criteria": ["a", "b"]}},
            marks=pytest.mark.req("BOA-EVT-03"),
        ),
        pytest.param(
            [events.OutcomeDefined(outcome=events.WantedOutcome(title="t"))],
            "user.define_outcome",
            {"outcome": {"title": "t", "detail": None, "success_criteria": []}},
            marks=pytest.mark.req("BOA-EVT-03"),
        ),
        pytest.param(
            [events.UserInterrupt(note="stop")],
            "user.interrupt",
            {"note": "stop"},
            marks=pytest.mark.req("BOA-EVT-04"),
        ),
        pytest.param(
            [events.UserInterrupt()],
            "user.interrupt",
            {"note": None},
            marks=pytest.mark.req("BOA-EVT-04"),
        ),
        pytest.param(
            [USE, events.ToolConfirmation(**REQUEST, allowed=False, note="no")],
            "user.tool_confirmation",
            {**REQUEST, "allowed": False, "note": "no"},
            marks=pytest.mark.req("BOA-EVT-05"),
        ),
        pytest.param(
            [USE, events.ToolConfirmation(**REQUEST, allowed=True)],
            "user.tool_confirmation",
            {**REQUEST, "allowed": True, "note": None},
            marks=pytest.mark.req("BOA-EVT-05"),
        ),
        pytest.param(
            [CUSTOM, events.CustomToolResult(**REQUEST, output="text")],
            "user.custom_tool_result",
            {**REQUEST, "output": "text"},
            marks=pytest.mark.req("BOA-EVT-06"),
        ),
        pytest.param(
            [events.ChildCreated(child_session_id="ses_2", outcome_title="Docs", message="go")],
            "session.child_created",
            {"child_session_id": "ses_2", "outcome_title": "Docs", "message": "go"},
            marks=pytest.mark.req("BOA-EVT-07"),
        ),
        pytest.param(
            [events.ChildCreated(child_session_id="ses_2", message="go")],
            "session.child_created",
            {"child_session_id": "ses_2", "outcome_title": None, "message": "go"},
            marks=pytest.mark.req("BOA-EVT-07"),
        ),
        pytest.param(
            [
                events.ChildIdle(
                    child_session_id="ses_2",
                    child_stop_reason="requires_action",
                    summary="waits",
                    executed_cycles=3,
                )
            ],
            "session.child_idle",
            {
                "child_session_id": "ses_2",
                "child_stop_reason": "requires_action",
                "summary": "waits",
                "executed_cycles": 3,
            },
            marks=pytest.mark.req("BOA-EVT-08"),
        ),
        pytest.param(
            [events.StatusChanged(from_status="idle", to_status="running", reason="a message")],
            "session.status_changed",
            {"from_status": "idle", "to_status": "running", "reason": "a message"},
            marks=pytest.mark.req("BOA-EVT-09"),
        ),
        pytest.param(
            [events.StatusIdle(reason="r", summary="s", blocking_event_ids=("evt_1",))],
            "session.status_idle",
            {"reason": "r", "summary": "s", "blocking_event_ids": ["evt_1"]},
            marks=pytest.mark.req("BOA-EVT-10"),
        ),
        pytest.param(
            [events.StatusIdle(reason="r", summary="s")],
            "session.status_idle",
            {"reason": "r", "summary": "s", "blocking_event_ids": None},
            marks=pytest.mark.req("BOA-EVT-10"),
        ),
        pytest.param([events.SpanStarted(**STARTED)], "span.started", STARTED),
        pytest.param(
            [events.SpanStarted(span_id="wak_1", span_kind="wake", name="session_run")],
            "span.started",
            {
                "span_id": "wak_1",
                "parent_span_id": None,
                "span_kind": "wake",
                "name": "session_run",
                "summary": None,
            },
        ),
        *(
            pytest.param(
                [events.SpanCompleted(**STARTED, result=result)],
                "span.completed",
                {**STARTED, "result": result},
                marks=pytest.mark.req("BOA-EVT-12"),
            )
            for result in get_args(events.SpanResult)
        ),
        pytest.param(
            [events.AgentMessage(message="done", summary="s")],
            "agent.message",
            {"message": "done", "summary": "s"},
        ),
        pytest.param(
            [USE],
            "agent.tool_use",
            {
                **REQUEST,
                "ownership": "m",
                "permission_policy": "always_ask",
                "input": {"a": [1]},
                "output": None,
            },
            marks=pytest.mark.req("BOA-EVT-14"),
        ),
        pytest.param(
            [
                events.ToolUse(
                    tool_name="ls", ownership="m", permission_policy="p", input=None, output="o"
                )
            ],
            "agent.tool_use",
            {
                "request_id": None,
                "tool_name": "ls",
                "ownership": "m",
                "permission_policy": "p",
                "input": None,
                "output": "o",
            },
            marks=pytest.mark.req("BOA-EVT-14"),
        ),
        pytest.param([CUSTOM], "agent.custom_tool_use", {**REQUEST, "input": {"b": None}}),
    ],
)
def test_an_event_carries_its_fields(
    payloads: list[Payload], kind: str, fields: JsonObject
) -> None:
    found = on_the_wire(*payloads)[-1]
    common = ("id", "created_at", "processed_at", "sequence", "version")
    assert found.pop("type") == kind
    assert {name: value for name, value in found.items() if name not in common} == fields


@pytest.mark.req("BOA-EVT-12")
def test_results_of_spans_are_these_three() -> None:
    assert get_args(events.SpanResult) == ("success", "error", "blocked")


@pytest.mark.req("BOA-EVT-17")
def test_events_are_in_the_order_they_were_emitted_also_when_the_clock_goes_back() -> None:
    async def work(store: Store, clock: FakeClock) -> list[dict[str, Any]]:
        await store.journal.create(NAME, [SessionCreated()])
        for name in ("a", "b", "c"):
            clock.advance(-1)
            twice = [events.UserMessage(message=name), events.UserMessage(message=name * 2)]
            await store.journal.append(NAME, twice)
        return [json.loads(event_line(one)) for one in await store.journal.events(NAME)]

    found = in_a_store(work)
    assert [one["sequence"] for one in found] == [1, 2, 3, 4, 5, 6, 7]
    assert [one["message"] for one in found[1:]] == ["a", "aa", "b", "bb", "c", "cc"]
    assert found[-1]["created_at"] < found[0]["created_at"]


def states_after(*payloads: Payload) -> tuple[str, str, ReportedStatus]:
    """Where a session stands in a real store: status, stop reason, what is reported."""

    async def work(store: Store, _clock: FakeClock) -> tuple[str, str, ReportedStatus]:
        await store.journal.create(NAME, [SessionCreated(), *payloads])
        session = await store.journal.session(NAME)
        told = session_document(session)
        return str(told["status"]), str(told["stop_reason"]), reported(session.state)

    return in_a_store(work)


def went(to: SessionStatus) -> events.StatusChanged:
    return events.StatusChanged(from_status="idle", to_status=to, reason="")


WAKE: dict[str, Any] = {"span_id": "wak_1", "span_kind": "wake", "name": "session_run"}
FAILED = events.SpanCompleted(**WAKE, result="error")
HASHED: dict[str, Any] = {"call_id": "cal_1", "tool": "bash", "arguments_hash": "ab"}
ASKED = (
    events.CallAsked(call_id="cal_1", tool="bash", arguments="{}"),
    events.ApprovalAsked(**HASHED, approval_id="apr_1", reason="why"),
)
CLOSED = events.SessionClosed(reason="")
BLOCKED = events.StatusIdle(reason="requires_action", summary="")

STANDS = [
    ((), ("idle", "idle", "idle")),
    ((went("running"),), ("running", "idle", "busy")),
    ((events.UserMessage(message="a"),), ("rescheduling", "rescheduling", "retrying")),
    ((USE, BLOCKED), ("requires_action", "requires_action", "waiting_on_approval")),
    ((CUSTOM, BLOCKED), ("requires_action", "requires_action", "waiting_on_user_input")),
    ((went("running"), *ASKED), ("running", "idle", "waiting_on_approval")),
    ((FAILED,), ("idle", "idle", "error")),
    ((FAILED, went("running")), ("running", "idle", "busy")),
    ((CLOSED,), ("terminated", "terminated", "idle")),
    ((FAILED, CLOSED), ("terminated", "terminated", "error")),
    ((*ASKED, CLOSED), ("terminated", "terminated", "idle")),
]


@pytest.mark.req("BOA-SES-02")
@pytest.mark.req("SPEC-REC-21")
@pytest.mark.parametrize(("payloads", "stands"), STANDS)
def test_a_session_stands_where_its_events_left_it(
    payloads: tuple[Payload, ...], stands: tuple[str, str, str]
) -> None:
    assert states_after(*payloads) == stands


@pytest.mark.req("BOA-SES-02")
@pytest.mark.req("SPEC-REC-21")
def test_there_are_no_other_states_and_each_was_seen() -> None:
    statuses = ("idle", "running", "rescheduling", "requires_action", "terminated")
    reasons = ("idle", "requires_action", "rescheduling", "terminated")
    shown = ("idle", "busy", "retrying", "error", "waiting_on_approval", "waiting_on_user_input")
    for seen, named, kinds in zip(
        zip(*(stands for _, stands in STANDS), strict=True),
        (statuses, reasons, shown),
        (SessionStatus, StopReason, ReportedStatus),
        strict=True,
    ):
        assert set(seen) == set(named) == set(get_args(kinds))


@pytest.mark.req("BOA-SES-02")
def test_a_state_of_another_name_is_not_taken_in() -> None:
    told = on_the_wire(went("running"))[0]
    line = json.dumps({**told, "sequence": 1, "to_status": "paused"}).encode()
    with pytest.raises(UnreadableExport, match=r"it is no 'session.status_changed'"):
        read_events(line, NAME)


def test_a_session_says_who_where_and_what_it_waits_for() -> None:
    begun = SessionCreated(
        agent_id="coder",
        profile="code",
        workspace="/ws",
        parent_id="ses_0",
        metadata={"resources": [{"kind": "folder"}], "more": 1},
    )
    usage = events.ModelReplied(request_id="mod_1", reply=None, usage={"input": 3, "turns": 9})
    done = events.SpanCompleted(**WAKE, result="success")

    async def work(store: Store, _clock: FakeClock) -> JsonObject:
        await store.journal.create(NAME, [begun, events.UserMessage(message="Hi"), usage, done])
        await store.journal.append(NAME, [USE, CUSTOM])
        return session_document(await store.journal.session(NAME))

    at = "2026-01-01T00:00:00.000000Z"
    request = {"answered_by": None, "requested_at": at, "id": "req_1"}
    assert in_a_store(work) == {
        "version": 1,
        "id": NAME,
        "agent_id": "coder",
        "environment_id": "local-default",
        "profile": "code",
        "workspace": "/ws",
        "parent_id": "ses_0",
        "title": "Hi",
        "status": "rescheduling",
        "stop_reason": "rescheduling",
        "created_at": at,
        "updated_at": at,
        "events": 6,
        "usage": {"turns": 1, "input": 3},
        "resources": [{"kind": "folder"}],
        "pending_tool_confirmation_request": {
            **request,
            "tool_name": "bash",
            "ownership": "m",
            "permission_policy": "always_ask",
            "input": {"a": [1]},
        },
        "pending_custom_tool_request": {**request, "name": "bash", "input": {"b": None}},
        "metadata": {"resources": [{"kind": "folder"}], "more": 1},
    }


def test_a_call_that_is_settled_carries_its_envelope_as_it_was_given() -> None:
    settled = events.CallSettled(call_id="cal_1", tool="bash", envelope=Raw(b'{"ok":true}'))
    assert on_the_wire(ASKED[0], settled)[-1]["envelope"] == {"ok": True}
