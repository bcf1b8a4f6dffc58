"""Whole conversations, compared in every word: what is sent to a model and what is written down."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from agent.scenarios.telling import check_scenario
from agents_at_work import Desk, at_work, calls, home_of

from holdfast import Agent, Answer, Replies, answer_question, tool
from holdfast.agent.models.scripted import ScriptedModel
from holdfast.app.agent_opening import Models, SubagentRunner
from holdfast.app.settings import Settings
from holdfast.contract.events import ChildCreated, CustomToolResult, Event
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio


@tool(read_only=True, inline=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(permission_policy="always_ask")
async def deploy(place: str) -> str:
    """Deploy to a place."""
    return f"deployed to {place}"


@tool(ownership="custom")
def order(item: str) -> str:
    """Order something; the application does it."""
    raise AssertionError(item)


NORTH, SOUTH = ("deploy", '{"place": "north"}'), ("deploy", '{"place": "south"}')
YES, NO = Answer(allowed=True, by="ada"), Answer(allowed=False, by="ada", note="Not on a Friday.")


@asynccontextmanager
async def scene(folder: Path, *turns: Any, **options: Any) -> AsyncGenerator[Desk]:
    given: dict[str, Any] = {"profile": "bare", "clock": FakeClock(), **options}
    async with at_work(folder, turns, **given) as desk:
        yield desk


async def answered(folder: Path, desk: Desk, answer: Answer) -> None:
    (question,) = await desk.holdfast.questions()
    await answer_question(
        *(desk.session.id, question.approval_id, answer),
        settings=Settings(),
        surroundings=home_of(folder),
    )


async def test_a_plain_answer(tmp_path: Path) -> None:
    async with scene(tmp_path, "Hello, Ada.") as desk:
        await desk.told("Hello.")
        await check_scenario("plain_answer", desk)


async def test_one_call_with_a_repair(tmp_path: Path) -> None:
    asked = calls(("add", '{"a": "1", "b": 2,}'), text="Let me see.")
    async with scene(tmp_path, asked, "3", tools=[add]) as desk:
        await desk.told("1 + 2?")
        await check_scenario("repaired_call", desk)


async def test_malformed_and_unknown_calls(tmp_path: Path) -> None:
    asked = calls(("add", '{"a": 1'), ("add", "[1]"), ("nobody", "{}"), ("add", ""))
    async with scene(tmp_path, asked, "Sorry.", tools=[add]) as desk:
        await desk.told("1 + 2?")
        await check_scenario("malformed_calls", desk)


async def test_an_approval_that_is_waited_for(tmp_path: Path) -> None:
    async with scene(tmp_path, calls(NORTH), "It is there.", tools=[deploy]) as desk:
        await desk.told("Deploy.")
        await answered(tmp_path, desk, YES)
        await desk.told()
        await check_scenario("approval", desk)


async def test_a_denial_that_skips_the_rest(tmp_path: Path) -> None:
    asked = calls(NORTH, SOUTH, ("add", '{"a": 1, "b": 2}'))
    async with scene(tmp_path, asked, "I stop here.", tools=[deploy, add]) as desk:
        await desk.told("Deploy everywhere.")
        await answered(tmp_path, desk, YES)
        await desk.told()
        await answered(tmp_path, desk, NO)
        await desk.told()
        await check_scenario("denial", desk)


async def test_a_question(tmp_path: Path) -> None:
    asked = calls(("question", '{"questions": [{"question": "Which?"}]}'))
    async with scene(tmp_path, asked, "Blue it is.") as desk:
        await desk.told("Choose.")
        (inquiry,) = await desk.holdfast.inquiries()
        await desk.holdfast.answer_inquiry(inquiry, Replies(answers=(("blue",),), by="ada"))
        await desk.told()
        await check_scenario("question", desk)


async def test_a_custom_tool(tmp_path: Path) -> None:
    asked = calls(("order", '{"item": "tea"}'))
    async with scene(tmp_path, asked, "Tea is on its way.", tools=[order]) as desk:
        await desk.told("Order tea.")
        request = (await desk.state()).custom
        assert request is not None
        await _append(desk, CustomToolResult(request_id=request.id, tool_name="order", output="ok"))
        await desk.told()
        await check_scenario("custom_tool", desk)


async def _append(desk: Desk, *payloads: Any) -> None:
    log = desk.holdfast.parts.log
    assert log is not None
    await (await log.journal()).append(desk.session.id, payloads)


async def test_a_subagent(tmp_path: Path) -> None:
    work = calls(("task", '{"subagent_type": "adder", "prompt": "1 + 2?"}'))
    model = ScriptedModel([work, calls(("add", '{"a": 1, "b": 2}')), "3", "It is 3."])
    runner = SubagentRunner(Models(Settings(), home_of(tmp_path)))
    runner.usual = model
    adder = Agent(id="adder", instructions="Add.", mode="subagent")
    async with scene(
        tmp_path,
        profile="locked",
        tools=[add],
        equipment={"model": model},
        agents=[adder],
        runner=runner,
    ) as desk:
        await desk.told("1 + 2?")
        (child,) = await desk.payloads(ChildCreated)
        await check_scenario("subagent", desk, await _events(desk, child.child_session_id))


async def _events(desk: Desk, session_id: str) -> tuple[Event, ...]:
    log = desk.holdfast.parts.log
    assert log is not None
    return await (await log.journal()).events(session_id)


async def test_an_interrupt_and_a_new_direction(tmp_path: Path) -> None:
    async with scene(tmp_path, calls(NORTH), "A poem, then.", tools=[deploy]) as desk:
        await desk.told("Deploy.")
        await desk.session.interrupt("Write a poem instead.")
        await desk.told()
        await check_scenario("interrupt", desk)


async def test_a_summary_in_place_of_the_beginning(tmp_path: Path) -> None:
    long = "word " * 3_000
    turns = (long, long, "They talk.", "Still here.")
    async with scene(tmp_path, *turns, window=10_000, max_output_tokens=1_000) as desk:
        await desk.told("One " + long)
        await desk.told("Two")
        await desk.told("Three")
        await check_scenario("compaction", desk)


DIRECTIVE = """Done for now.
<holdfast-session-loop>
{"outcome": "sleep", "summary": "Half of it is done.",
 "queued_wakes": [{"reason": "look at the build", "delay_seconds": 60, "note": "The blue one."}],
 "learnings": [{"title": "Builds", "detail": "They take a minute.", "promote_to_memory": true}]}
</holdfast-session-loop>"""


async def test_a_directive_with_wakes_and_learnings(tmp_path: Path) -> None:
    clock = FakeClock()
    async with scene(
        *(tmp_path, DIRECTIVE, "The build is green."), clock=clock, equipment={"directives": True}
    ) as desk:
        await desk.told("Build it.")
        assert (await desk.session.wake()).executed is False
        clock.advance(61)
        await desk.told()
        await check_scenario("directive", desk)
