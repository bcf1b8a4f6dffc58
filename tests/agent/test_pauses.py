"""A session that waits for a person or the application: durably, and it goes on with the answer."""

from pathlib import Path
from typing import Any

import pytest
from agents_at_work import Desk, at_work, calls, home_of

from holdfast import Answer, Replies, answer_question, tool
from holdfast.app.settings import Settings
from holdfast.contract.chunks import ToolResultChunk
from holdfast.contract.events import (
    AgentMessage,
    CallSettled,
    CustomToolResult,
    CustomToolUse,
    StatusIdle,
    ToolConfirmation,
    ToolUse,
    UserInterrupt,
)
from holdfast.contract.journal import NotFitting

pytestmark = pytest.mark.anyio

RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@tool(permission_policy="always_ask")
def deploy(place: str) -> str:
    """Deploy to a place."""
    RAN.append(place)
    return f"deployed to {place}"


@tool
def prepare(place: str) -> str:
    """Prepare a place."""
    RAN.append(f"prepare {place}")
    return "prepared"


@tool(ownership="custom")
def order(item: str) -> str:
    """Order something; the application does it."""
    raise AssertionError("the application does it")


DEPLOY = ("deploy", '{"place": "north"}')
YES = Answer(allowed=True, by="ada")
NO = Answer(allowed=False, by="ada")


async def _answer(folder: Path, desk: Desk, answer: Answer) -> None:
    (question,) = await desk.holdfast.questions()
    await answer_question(
        *(desk.session.id, question.approval_id, answer),
        settings=Settings(),
        surroundings=home_of(folder),
    )


async def _append(desk: Desk, *payloads: Any) -> None:
    log = desk.holdfast.parts.log
    assert log is not None
    await (await log.journal()).append(desk.session.id, payloads)


@pytest.mark.req("BOA-ASK-04", "BOA-ASK-05", "BOA-ASK-06")
async def test_a_call_that_asks_pauses_the_session_and_says_what_blocks_it(tmp_path: Path) -> None:
    async with at_work(tmp_path, [calls(DEPLOY)], tools=[deploy]) as desk:
        await desk.told("Deploy.")
        end = desk.session.last
        assert end is not None
        assert (end.ended, end.stop_reason) == ("requires_action", "requires_action")
        (question,) = await desk.holdfast.questions()
        events = await desk.events()
        (used,) = [one for one in events if isinstance(one.payload, ToolUse)]
        said = used.payload
        assert isinstance(said, ToolUse)
        assert (said.request_id, said.input, said.output) == (
            *(question.approval_id, {"place": "north"}),
            None,
        )
        (idle,) = await desk.payloads(StatusIdle)
        assert (idle.reason, idle.blocking_event_ids) == ("requires_action", (used.id,))
        state = await desk.state()
        assert (state.status, state.stop_reason) == ("requires_action", "requires_action")
        assert RAN == []


async def test_with_nothing_new_a_paused_session_is_not_run(tmp_path: Path) -> None:
    async with at_work(tmp_path, [calls(DEPLOY)], tools=[deploy]) as desk:
        await desk.told("Deploy.")
        end = await desk.session.wake()
        assert (end.executed, end.reason) == (False, "idle")
        await desk.session.send("Are you there?")
        assert (await desk.session.wake()).executed is False
        assert len((await desk.state()).pending) == 1


async def test_an_answer_from_elsewhere_runs_the_stored_call_once(tmp_path: Path) -> None:
    async with at_work(tmp_path, [calls(DEPLOY), "deployed"], tools=[deploy]) as desk:
        await desk.told("Deploy.")
        await _answer(tmp_path, desk, YES)
        await desk.told()
        assert RAN == ["north"]
        answer = desk.rows()[-1]
        assert isinstance(answer, ToolResultChunk)
        assert answer.tool_call_id == "c1"
        assert "deployed to north" in answer.content
        state = await desk.state()
        assert (state.status, state.confirmation, state.pending) == ("idle", None, ())
        assert (await desk.session.wake()).executed is False
        assert RAN == ["north"]


async def test_a_restart_keeps_the_pause_and_the_answer(tmp_path: Path) -> None:
    async with at_work(tmp_path, [calls(DEPLOY)], tools=[deploy]) as desk:
        await desk.told("Deploy.")
        session = desk.session.id
        (question,) = await desk.holdfast.questions()
    await answer_question(
        *(session, question.approval_id, YES),
        settings=Settings(),
        surroundings=home_of(tmp_path),
    )
    with pytest.raises(NotFitting):
        await answer_question(
            *(session, question.approval_id, NO),
            settings=Settings(),
            surroundings=home_of(tmp_path),
        )
    async with at_work(tmp_path, ["deployed"], tools=[deploy], session=session) as desk:
        await desk.told()
        assert RAN == ["north"]
        assert desk.session.last is not None
        assert desk.session.last.response == "deployed"


async def test_somebody_who_is_there_after_a_restart_is_asked_again(tmp_path: Path) -> None:
    async with at_work(tmp_path, [calls(DEPLOY)], tools=[deploy]) as desk:
        await desk.told("Deploy.")
        session = desk.session.id
    asked: list[str | None] = []

    async def approver(ask: Any) -> Answer:
        asked.append(ask.approval_id)
        return YES

    async with at_work(
        *(tmp_path, ["deployed"]),
        tools=[deploy],
        session=session,
        approver=approver,
        equipment={"interactive": True},
    ) as desk:
        (question,) = await desk.holdfast.questions()
        await desk.told()
        assert asked == [question.approval_id]
        assert RAN == ["north"]


async def test_nothing_runs_before_everybody_was_asked(tmp_path: Path) -> None:
    both = calls(("prepare", '{"place": "north"}'), DEPLOY)
    async with at_work(tmp_path, [both, "done"], tools=[prepare, deploy]) as desk:
        await desk.told("Go.")
        assert RAN == []
        await _answer(tmp_path, desk, YES)
        await desk.told()
        assert RAN == ["prepare north", "north"]


@pytest.mark.req("OSA-DRV-04")
async def test_approvals_come_one_at_a_time_and_a_denial_skips_the_rest(tmp_path: Path) -> None:
    three = calls(DEPLOY, ("deploy", '{"place": "south"}'), ("prepare", '{"place": "x"}'))
    async with at_work(tmp_path, [three, "stopped"], tools=[prepare, deploy]) as desk:
        await desk.told("Go.")
        assert len(await desk.holdfast.questions()) == 1
        await _answer(tmp_path, desk, YES)
        await desk.told()
        assert len(await desk.holdfast.questions()) == 1
        await _answer(tmp_path, desk, NO)
        await desk.told()
        assert RAN == ["north"]
        first, second, third = desk.rows()[-3:]
        assert isinstance(first, ToolResultChunk)
        assert isinstance(second, ToolResultChunk)
        assert isinstance(third, ToolResultChunk)
        assert "deployed to north" in first.content
        assert '"user_denied"' in second.content
        assert '"rejected"' in third.content


@pytest.mark.parametrize(
    ("interactive", "ended"), [(True, "tool_rejected"), (False, "final_response")]
)
async def test_a_refusal_ends_a_run_that_somebody_watches_and_no_other(
    tmp_path: Path, interactive: bool, ended: str
) -> None:
    async def refuse(_ask: Any) -> Answer:
        return NO

    async with at_work(
        *(tmp_path, [calls(DEPLOY), "I will not."]),
        tools=[deploy],
        approver=refuse,
        equipment={"interactive": interactive},
    ) as desk:
        await desk.told("Deploy.")
        assert desk.session.last is not None
        assert desk.session.last.ended == ended
        (settled,) = await desk.payloads(CallSettled)
        assert b'"user_denied"' in bytes(settled.envelope)
        assert RAN == []


@pytest.mark.req("BOA-INT-01")
async def test_an_interrupt_beats_a_confirmation_and_takes_a_new_direction(tmp_path: Path) -> None:
    async with at_work(tmp_path, [calls(DEPLOY), "Something else, then."], tools=[deploy]) as desk:
        await desk.told("Deploy.")
        (question,) = await desk.holdfast.questions()
        await _append(desk, UserInterrupt(note="Write a poem instead."))
        confirmed = ToolConfirmation(
            request_id=question.approval_id, tool_name="deploy", allowed=True
        )
        await _append(desk, confirmed)  # too late to count
        await desk.told()
        assert RAN == []
        state = await desk.state()
        assert (state.status, state.stop_reason) == ("idle", "idle")
        assert (state.confirmation, state.custom, state.pending, state.wakes) == (
            None,
            None,
            (),
            (),
        )
        assert desk.rows()[-1].content == "Write a poem instead."
        assert await desk.holdfast.questions() == ()
        summaries = [one.summary for one in await desk.payloads(StatusIdle)]
        assert any(
            one.startswith("User interrupted prior blocked or scheduled work") for one in summaries
        )


@pytest.mark.req("BOA-CUST-01", "BOA-CUST-02", "BOA-CUST-03", "BOA-CUST-05", "BOA-CUST-08")
async def test_a_custom_tool_pauses_in_the_sessions_own_events(tmp_path: Path) -> None:
    async with at_work(tmp_path, [calls(("order", '{"item": "tea"}'))], tools=[order]) as desk:
        kinds = await desk.told("Order tea.")
        assert desk.session.last is not None
        assert desk.session.last.stop_reason == "requires_action"
        (used,) = [one for one in await desk.events() if isinstance(one.payload, CustomToolUse)]
        said = used.payload
        assert isinstance(said, CustomToolUse)
        assert (said.tool_name, said.input) == ("order", {"item": "tea"})
        (idle,) = await desk.payloads(StatusIdle)
        assert (idle.reason, idle.blocking_event_ids) == ("requires_action", (used.id,))
        assert "agent.message" not in kinds
        assert await desk.payloads(CallSettled) == []
        assert (await desk.state()).status == "requires_action"


@pytest.mark.req("BOA-OWN-04", "BOA-CUST-04", "BOA-CUST-07", "BOA-CUST-09")
async def test_a_custom_tool_goes_on_with_its_result_and_with_nothing_else(tmp_path: Path) -> None:
    asked = calls(("order", '{"item": "tea"}'))
    async with at_work(tmp_path, [asked, "Tea is on its way."], tools=[order]) as desk:
        await desk.told("Order tea.")
        request = (await desk.state()).custom
        assert request is not None
        assert (request.name, request.input) == ("order", {"item": "tea"})
        assert request.requested_at > 0
        await desk.session.send("How long?")
        assert (await desk.session.wake()).executed is False
        assert (await desk.state()).custom == request
        wrong = CustomToolResult(request_id="cal_other", tool_name="order", output="x")
        with pytest.raises(NotFitting):
            await _append(desk, wrong)
        right = CustomToolResult(request_id=request.id, tool_name="order", output="ordered: tea")
        await _append(desk, right)
        await desk.told()
        answer, later = desk.rows()[-2:]
        assert isinstance(answer, ToolResultChunk)
        assert answer.tool_call_id == "c1"
        assert "ordered: tea" in answer.content
        assert later.content == "How long?"
        assert (await desk.state()).custom is None


async def test_a_custom_result_survives_a_restart(tmp_path: Path) -> None:
    asked = calls(("order", '{"item": "tea"}'))
    async with at_work(tmp_path, [asked], tools=[order]) as desk:
        await desk.told("Order tea.")
        session = desk.session.id
        request = (await desk.state()).custom
    assert request is not None
    async with at_work(tmp_path, ["done"], tools=[order], session=session) as desk:
        assert (await desk.session.wake()).executed is False
        right = CustomToolResult(request_id=request.id, tool_name="order", output="ordered")
        await _append(desk, right)
        await desk.told()
        assert (await desk.payloads(AgentMessage))[-1].message == "done"


@pytest.mark.req("SPEC-QUES-06")
async def test_a_question_suspends_the_run_until_its_answers_come(tmp_path: Path) -> None:
    asked = calls(("question", '{"questions": [{"question": "Which?"}]}'))
    async with at_work(tmp_path, [asked, "The blue one."]) as desk:
        await desk.told("Choose.")
        assert desk.session.last is not None
        assert desk.session.last.ended == "requires_action"
        await desk.session.send("blue")
        assert (await desk.session.wake()).executed is False
        (inquiry,) = await desk.holdfast.inquiries()
        await desk.holdfast.answer_inquiry(inquiry, Replies(answers=(("blue",),), by="ada"))
        await desk.told()
        answer = next(row for row in desk.rows() if isinstance(row, ToolResultChunk))
        assert '"answers":[["blue"]]' in answer.content


async def test_where_nobody_is_there_a_call_in_question_is_refused_and_the_run_goes_on(
    tmp_path: Path,
) -> None:
    async with at_work(
        tmp_path, [calls(DEPLOY), "I may not."], tools=[deploy], approver=None, person=None
    ) as desk:
        await desk.told("Deploy.")
        assert desk.session.last is not None
        assert desk.session.last.ended == "final_response"
        assert RAN == []
        refused = desk.rows()[-1]
        assert isinstance(refused, ToolResultChunk)
        assert '"rejected"' in refused.content
