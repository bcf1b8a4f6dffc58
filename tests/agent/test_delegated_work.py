"""Work that an agent hands to another: what the one above hears of it, whatever happens."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from agents_at_work import Desk, at_work, calls, home_of

from holdfast import Agent, tool
from holdfast.agent.conversation import Conversation
from holdfast.agent.models.scripted import Played, ScriptedCall, ScriptedModel, Turn
from holdfast.app.agent_opening import Models, SubagentRunner
from holdfast.app.settings import Settings
from holdfast.contract.agents import RunLimits
from holdfast.contract.chunks import ToolResultChunk, UserChunk
from holdfast.contract.events import (
    CallSettled,
    ChildCreated,
    ChildIdle,
    Event,
    ModelReplied,
    ModelRequested,
    Payload,
)
from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import ModelError, ModelRequest, ModelUsage
from holdfast.contract.wake_events import RunBounded, WakeQueued

pytestmark = pytest.mark.anyio

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
BACKGROUND = ("task", '{"subagent_type": "worker", "prompt": "Child.", "background": true}')
BLOCKING = ("task", '{"subagent_type": "worker", "prompt": "Child."}')


@asynccontextmanager
async def above(
    folder: Path, turns: list[Any], limits: RunLimits | None = None, **options: Any
) -> AsyncGenerator[Desk]:
    """An agent that may hand work to another one; both play from the same script."""
    model = ScriptedModel(turns)
    equipment = {"model": model, "limits": limits or RunLimits()}
    runner = SubagentRunner(Models(Settings(), home_of(folder)))
    runner.usual = model
    worker = Agent(id="worker", instructions="Work.", mode="subagent")
    async with at_work(
        *(folder, ()),
        profile="locked",
        equipment=equipment,
        agents=[worker],
        runner=runner,
        **options,
    ) as desk:
        yield desk


def by_whom(parent: list[Played], child: list[Played]) -> list[Any]:
    """Turns for two who ask in any order: whoever is told to be a child gets a child's."""

    def turn(request: ModelRequest) -> Played:
        is_child = any(row == UserChunk("Child.") for row in request.rows)
        return (child if is_child else parent).pop(0)

    return [turn] * (len(parent) + len(child))


async def test_the_answer_of_a_subagent_is_the_answer_of_the_call(tmp_path: Path) -> None:
    turns = by_whom([calls(BLOCKING), "It said so."], ["So."])
    async with above(tmp_path, turns) as desk:
        await desk.told("Ask it.")
        answer = desk.rows()[-1]
        assert isinstance(answer, ToolResultChunk)
        assert '"output":"So."' in answer.content


async def test_a_subagent_whose_model_fails_is_a_failure_of_the_call(tmp_path: Path) -> None:
    turns = by_whom(
        [calls(BLOCKING), "It could not."], [ModelError("authentication", "the key is not known")]
    )
    async with above(tmp_path, turns) as desk:
        await desk.told("Ask it.")
        answer = desk.rows()[-1]
        assert isinstance(answer, ToolResultChunk)
        assert '"ok":false' in answer.content
        assert "the key is not known" in answer.content
        assert desk.session.last is not None
        assert desk.session.last.response == "It could not."


async def test_the_end_of_work_in_the_background_is_told_once(tmp_path: Path) -> None:
    turns = by_whom([calls(BACKGROUND), "It works.", "It is done."], ["Worked."])
    async with above(tmp_path, turns) as desk:
        await desk.told("Begin.")
        (child,) = await desk.payloads(ChildCreated)
        told = [row for row in desk.rows() if isinstance(row, UserChunk)]
        assert told == [
            UserChunk("Begin."),
            UserChunk(f"[task {child.child_session_id} ended] Worked."),
        ]
        assert desk.session.last is not None
        assert desk.session.last.response == "It is done."


async def test_whoever_stops_listening_does_not_wait_for_work_in_the_background(
    tmp_path: Path,
) -> None:
    begun, released = anyio.Event(), anyio.Event()

    @tool
    async def wait() -> str:
        """Wait for the test."""
        begun.set()
        await released.wait()
        return "waited"

    turns = by_whom([calls(BACKGROUND), "It works."], [calls(("wait", "{}")), "Worked."])
    async with above(tmp_path, turns, tools=[wait]) as desk:
        stream = desk.session.run("Begin.")
        async for one in stream:
            if isinstance(one, Event) and one.type == "span.completed":
                break
        await begun.wait()
        await stream.aclose()
        assert desk.session.running is False
        assert await desk.payloads(ChildIdle) == []
        released.set()
        await desk.holdfast.parts.own.tasks.any_ended()
        (ended,) = await desk.payloads(ChildIdle)
        assert ended.summary == "Worked."


class _Held:
    """A tool that a subagent waits in."""

    def __init__(self) -> None:
        self.begun, self.released = anyio.Event(), anyio.Event()

    def tool(self) -> object:
        @tool(interrupt_behavior="cancel")
        async def wait() -> str:
            """Wait for the test."""
            self.begun.set()
            await self.released.wait()
            return "waited"

        return wait


async def test_words_are_heard_while_work_in_the_background_goes_on(tmp_path: Path) -> None:
    held = _Held()
    parent: list[Played] = [calls(BACKGROUND), "It works.", "I hear.", "It is done."]
    turns = by_whom(parent, [calls(("wait", "{}")), "Worked."])
    async with above(tmp_path, turns, tools=[held.tool()]) as desk:
        heard = anyio.Event()

        async def speak() -> None:
            await held.begun.wait()
            await desk.session.send("Still there?")
            await heard.wait()
            held.released.set()

        async with anyio.create_task_group() as group:
            group.start_soon(speak)
            async for one in desk.session.run("Begin."):
                if isinstance(one, Event) and "I hear." in str(one.payload):
                    heard.set()
        assert desk.session.last is not None
        assert desk.session.last.response == "It is done."


@pytest.mark.parametrize("note", [None, "Do this instead."])
async def test_who_interrupts_a_wait_stops_the_work_in_the_background(
    tmp_path: Path, note: str | None
) -> None:
    held = _Held()
    parent: list[Played] = [calls(BACKGROUND), "It works.", "As you like."]
    turns = by_whom(parent, [calls(("wait", "{}")), "Worked."])
    async with above(tmp_path, turns, tools=[held.tool()]) as desk:

        async def stop() -> None:
            await held.begun.wait()
            await desk.session.interrupt(note)

        async with anyio.create_task_group() as group:
            group.start_soon(stop)
            await desk.told("Begin.")
        assert desk.session.last is not None
        assert desk.session.last.ended == ("cancelled" if note is None else "final_response")
        assert not desk.holdfast.parts.own.tasks.running()
        (ended,) = await desk.payloads(ChildIdle)
        assert ended.child_stop_reason == "terminated"
        assert (await desk.state()).pending == ()


async def test_a_run_that_goes_on_has_what_is_left_of_its_limits(tmp_path: Path) -> None:
    parent: list[Played] = [calls(BACKGROUND), "It works.", calls(BACKGROUND), "never"]
    turns = by_whom(parent, ["Worked.", "Worked."])
    limits = RunLimits(rounds=3)
    async with above(tmp_path, turns, limits) as desk:
        await desk.told("Begin.")
        assert desk.session.last is not None
        assert desk.session.last.ended == "iteration_cap"
        (bounded,) = await desk.payloads(RunBounded)
        assert bounded.limits.rounds == 1


async def test_a_subagent_that_ends_before_its_call_does_is_told_all_the_same() -> None:
    """The two are written by different tasks: whoever reads them takes either order."""
    asked = calls(BACKGROUND).calls[0]
    reply: JsonObject = {
        "calls": [{"id": "cal_1", "model_call_id": "c1", "name": "task", "arguments": "{}"}],
        "finish": "tool_calls",
    }
    begun = ChildCreated(child_session_id="ses_2", message="Child.")
    ended = ChildIdle(
        child_session_id="ses_2", child_stop_reason="idle", summary="Did it.", executed_cycles=1
    )
    answer = msgspec.Raw(b'{"ok":true,"result":{"session_id":"ses_2"},"tool":"task"}')
    replied = ModelReplied(request_id="msg_1", reply=reply, usage={})
    settled = CallSettled(call_id="cal_1", tool=asked.name, envelope=answer)
    for order in ([begun, ended, settled], [begun, settled, ended]):
        talk = Conversation()
        talk.take(map(_event, range(1, 9), [replied, *order]))
        assert talk.rows()[-1] == UserChunk("[task ses_2 ended] Did it.")
        assert talk.children == set()
        assert talk.background == set()


def _event(sequence: int, payload: Payload) -> Event:
    return Event(
        session_id="ses_1",
        sequence=sequence,
        id=f"evt_{sequence}",
        at=MOMENT,
        wake_id=None,
        payload=payload,
        previous=b"",
        hash=b"",
    )


@pytest.mark.req("SPEC-TASK-13")
async def test_a_finished_subagent_cannot_be_prompted_again(tmp_path: Path) -> None:
    turns = by_whom([calls(BLOCKING), "Once.", calls(BLOCKING), "Twice."], ["First.", "Second."])
    async with above(tmp_path, turns) as desk:
        await desk.told("Ask it.")
        (first,) = await desk.payloads(ChildCreated)
        (tool_told,) = [one for one in desk.model.requests[0].tools if one.name == "task"]
        assert set(tool_told.schema) >= {"additionalProperties", "properties"}
        name = first.child_session_id
        asked = '{"subagent_type": "worker", "prompt": "More.", "session_id": "%s"}' % name  # noqa: UP031 - JSON
        refused = await desk.holdfast.settle("task", asked)
        assert refused.failure is not None
        assert refused.failure.kind == "invalid_args"
        await desk.told("Ask it again.")
        second = (await desk.payloads(ChildCreated))[-1]
        assert second.child_session_id != name
        child = [one for one in desk.model.requests if one.rows[-1] == UserChunk("Child.")]
        assert len(child) == 2
        assert child[0].rows == child[1].rows


async def test_tasks_of_one_reply_run_at_the_same_time(tmp_path: Path) -> None:
    """Each waits for the other: one after the other, neither would end."""
    here: list[anyio.Event] = [anyio.Event(), anyio.Event()]
    came = 0
    met: list[str] = []

    @tool(parallel_safe=True)
    async def meet() -> str:
        """Wait for somebody else to come."""
        nonlocal came
        came += 1
        here[came - 1].set()
        with anyio.fail_after(10):
            for one in here:
                await one.wait()
        met.append("met")
        return "met"

    child: list[Played] = [calls(("meet", "{}")), calls(("meet", "{}")), "Met.", "Met."]
    turns = by_whom([calls(BLOCKING, BLOCKING), "Both met."], child)
    async with above(tmp_path, turns, tools=[meet]) as desk:
        await desk.told("Send two.")
        assert met == ["met", "met"]
        answers = [row for row in desk.rows() if isinstance(row, ToolResultChunk)]
        assert ['"output":"Met."' in one.content for one in answers] == [True, True]


async def test_what_is_known_of_a_conversation_does_not_grow_with_what_is_over() -> None:
    reply: JsonObject = {
        "calls": [{"id": "cal_1", "model_call_id": "c1", "name": "task", "arguments": "{}"}],
        "finish": "tool_calls",
    }
    ended = ChildIdle(
        child_session_id="ses_2", child_stop_reason="idle", summary="Did it.", executed_cycles=1
    )
    answer = msgspec.Raw(b'{"ok":true,"result":{"output":"Did it."},"tool":"task"}')
    wake = WakeQueued(queued_wake_id="qwk_1", due_at=MOMENT, reason="later", dedupe_key="one")
    again = msgspec.structs.replace(wake, queued_wake_id="qwk_2")
    summary = ModelRequested(request_id="msg_0", model="m", request_hash="", purpose="summary")
    turn = msgspec.structs.replace(summary, request_id="msg_1", purpose="turn")
    told = [
        ModelReplied(request_id="msg_1", reply=reply, usage={}),
        ChildCreated(child_session_id="ses_2", message="Child."),
        ended,
        CallSettled(call_id="cal_1", tool="task", envelope=answer),
        *(wake, again, summary, turn),
        ModelReplied(request_id="msg_1", reply={"text": "Done.", "finish": "stop"}, usage={}),
        ended,
    ]
    talk = Conversation()
    talk.take(map(_event, range(1, 20), told))
    assert list(talk.wakes) == ["qwk_1"]
    assert (talk.ended_early, talk.children, talk.background) == ({}, set(), set())
    assert vars(talk)["_aside"] == set()


@tool
def ping() -> str:
    """Ping."""
    return "pong"


_PINGS = Turn(
    calls=(ScriptedCall(name="ping"),),
    usage=ModelUsage(input_tokens=50, output_tokens=10, cost_micros=60_000),
)


@pytest.mark.parametrize(
    ("limits", "asked", "ended"),
    [
        (RunLimits(tokens=100), 2, "over_budget"),
        (RunLimits(cost=0.1), 2, "over_budget"),
        (RunLimits(rounds=3), 3, "final_response"),
    ],
    ids=["tokens", "cost", "rounds"],
)
async def test_a_subagent_uses_what_is_left_to_the_run_it_works_for(
    tmp_path: Path, limits: RunLimits, asked: int, ended: str
) -> None:
    turns = by_whom([calls(BLOCKING), "It went on and on."], [_PINGS] * 9)
    async with above(tmp_path, turns, limits, tools=[ping]) as desk:
        await desk.told("Go.")
        (rested,) = await desk.payloads(ChildIdle)
        assert rested.usage == {
            "input_tokens": 50 * asked,
            "output_tokens": 10 * asked,
            "cost_micros": 60_000 * asked,
        }
        assert desk.session.last is not None
        assert desk.session.last.ended == ended


async def test_what_is_used_two_levels_below_is_used_above(tmp_path: Path) -> None:
    """Whoever is asked first hands on, and so does the next one; the last one uses it up."""
    turns = [calls(BLOCKING), calls(BLOCKING), _PINGS, _PINGS, "Never said."]
    async with above(tmp_path, turns, RunLimits(tokens=100), tools=[ping]) as desk:
        await desk.told("Go.")
        assert len(desk.model.requests) == 4
        (rested,) = await desk.payloads(ChildIdle)
        assert rested.usage["input_tokens"] == 100
        assert desk.session.last is not None
        assert desk.session.last.ended == "over_budget"
