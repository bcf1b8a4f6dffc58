"""Recorded runs of agents, run once more by the real loop: the same events come out."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from agents_at_work import Desk, at_work, calls, home_of
from run_replays import again, all_events, deploy, fail, look, order, replays

from holdfast import Answer, Holdfast, Replies, answer_question, tool
from holdfast.agent.models.scripted import ScriptedModel
from holdfast.app.settings import Settings
from holdfast.contract.agents import Agent, RunLimits
from holdfast.contract.events import (
    CallSettled,
    ChildCreated,
    ChildIdle,
    CustomToolResult,
    Payload,
)
from holdfast.contract.model import Heard, ModelError, ModelReply, ModelRequest, TextDelta
from holdfast.contract.wake_events import (
    ContextCompacted,
    DirectiveTaken,
    ModelFailed,
    WakeDeferred,
    WakeQueued,
    WakesCompleted,
)

pytestmark = pytest.mark.anyio

LOOK = ("look", '{"place": "north"}')
DEPLOY = ("deploy", '{"place": "north"}')
YES = Answer(allowed=True, by="ada")


async def _append(desk: Desk, *payloads: Payload) -> None:
    log = desk.holdfast.parts.log
    assert log is not None
    await (await log.journal()).append(desk.session.id, payloads)


async def _answer(folder: Path, desk: Desk, answer: Answer) -> None:
    (question,) = await desk.holdfast.questions()
    await answer_question(
        *(desk.session.id, question.approval_id, answer),
        settings=Settings(),
        surroundings=home_of(folder),
    )


async def test_a_run_with_calls_comes_out_again(tmp_path: Path) -> None:
    turns = [
        calls(LOOK, text="Looking."),
        calls(("fail", '{"text": "boom"}')),
        calls(("no_such_tool", "{}")),
        calls(("look", '{"plce": 3}')),
        "All is fine.",
    ]
    async with at_work(tmp_path, turns, tools=[look, fail]) as desk:
        await desk.told("Look around.")
        found = await replays(desk)
        assert (found.requests_compared, found.wakes) == (5, 1)
        events = await all_events(desk)
        trails = [one for one in events if one.type.startswith("call.")]
        assert found.events_compared == len(events) - 2 - len(trails)


async def test_calls_that_overlapped_end_in_the_order_they_ended(tmp_path: Path) -> None:
    first_ends = anyio.Event()

    @tool(parallel_safe=True, resource_key=lambda values: (str(values["place"]),))
    async def wait(place: str) -> str:
        """Wait. place: e.g. 'a'."""
        if place == "a":
            await first_ends.wait()
        else:
            first_ends.set()
        return place

    both = calls(("wait", '{"place": "a"}'), ("wait", '{"place": "b"}'), ("fail", '{"text": "x"}'))
    async with at_work(tmp_path, [both, "done"], tools=[wait, fail]) as desk:
        await desk.told("Both.")
        ends = [bytes(one.envelope) for one in await desk.payloads(CallSettled)]
        assert [b'"b"' in ends[0], b'"a"' in ends[1]] == [True, True]
        assert (await replays(desk)).requests_compared == 2


async def test_words_that_came_meanwhile_are_heard_where_they_were(tmp_path: Path) -> None:
    async with at_work(tmp_path, [], tools=[look]) as desk:
        said: list[str] = []

        @tool
        async def speak() -> str:
            """Say something to the session."""
            await desk.session.send("And the south?")
            said.append("x")
            return "spoken"

        asked = calls(("speak", "{}"))
    async with at_work(tmp_path, [asked, "north and", "south"], tools=[speak]) as desk:
        await desk.told("The north?")
        await desk.told("And now?")
        assert said
        assert (await replays(desk)).wakes >= 2


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_pause_and_its_answer_come_out_again(tmp_path: Path, allowed: bool) -> None:
    turns = [calls(LOOK, DEPLOY, LOOK), "so it is"]
    async with at_work(tmp_path, turns, tools=[look, deploy]) as desk:
        await desk.told("Deploy.")
        assert (await replays(desk)).wakes == 1
        await _answer(tmp_path, desk, Answer(allowed=allowed, by="ada", note="well"))
        await desk.told()
        assert (await replays(desk)).wakes == 2


async def test_a_session_that_was_taken_up_by_somebody_who_is_there(tmp_path: Path) -> None:
    async with at_work(tmp_path, [calls(DEPLOY, LOOK)], tools=[look, deploy]) as desk:
        await desk.told("Deploy.")
        session = desk.session.id

    async def approver(_ask: Any) -> Answer:
        return YES

    options: dict[str, Any] = {"approver": approver, "equipment": {"interactive": True}}
    turns = ["deployed", calls(DEPLOY, DEPLOY), "twice"]
    async with at_work(tmp_path, turns, tools=[look, deploy], session=session, **options) as desk:
        await desk.told()
        await desk.told("Twice more.")
        assert (await replays(desk)).wakes == 3


async def test_inquiries_and_results_of_the_application_come_out_again(tmp_path: Path) -> None:
    asked = calls(("question", '{"questions": [{"question": "Which?"}]}'))
    turns = [asked, calls(("order", '{"item": "tea"}')), "The blue one."]
    async with at_work(tmp_path, turns, tools=[order]) as desk:
        await desk.told("Choose.")
        (inquiry,) = await desk.holdfast.inquiries()
        await desk.holdfast.answer_inquiry(inquiry, Replies(answers=(("blue",),), by="ada"))
        await desk.told()
        pending = (await desk.state()).custom
        assert pending is not None
        await _append(
            desk, CustomToolResult(request_id=pending.id, tool_name="order", output="tea comes")
        )
        await desk.told()
        assert (await replays(desk)).wakes == 3


class _Interrupted:
    """A model that is stopped in the middle of a word; with a note it is asked once more."""

    name, provider, window, max_output_tokens = "half", "test", 128_000, 8_192
    desk: Desk

    def __init__(self, note: str | None) -> None:
        self._note = note
        self._asked = False

    async def complete(self, _request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        if self._asked:
            return ModelReply(text="As you like.")
        self._asked = True
        if heard is not None:
            heard(TextDelta("I was about to "))
        await self.desk.session.interrupt(self._note)
        await anyio.sleep_forever()
        raise AssertionError

    async def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize(
    ("note", "response", "requests"),
    [(None, "I was about to ", 1), ("Stop that.", "As you like.", 2)],
)
async def test_an_interrupt_inside_of_a_reply_comes_out_again(
    tmp_path: Path, note: str | None, response: str, requests: int
) -> None:
    model = _Interrupted(note)
    async with at_work(tmp_path, [], equipment={"model": model}) as desk:
        model.desk = desk
        await desk.told("Go.")
        assert desk.session.last is not None
        assert desk.session.last.response == response
        assert (await replays(desk)).requests_compared == requests


@pytest.mark.parametrize("whole", [True, False])
async def test_an_interrupt_inside_of_calls_comes_out_again(tmp_path: Path, whole: bool) -> None:
    desks: list[Desk] = []

    @tool(interrupt_behavior="cancel")
    async def stop() -> str:
        """Interrupt what runs."""
        if whole:
            await desks[0].session.interrupt()
        else:
            assert desks[0].session.interrupt_call()
        await anyio.sleep_forever()
        return "never"

    turns = [calls(("stop", "{}"), LOOK), "stopped"]
    async with at_work(tmp_path, turns, tools=[stop, look]) as desk:
        desks.append(desk)
        await desk.told("Go.")
        assert desk.session.last is not None
        assert desk.session.last.ended == ("cancelled" if whole else "final_response")
        await replays(desk)


async def test_failures_of_the_model_come_out_again_without_waiting(tmp_path: Path) -> None:
    troubles = [
        ModelError("rate_limited", "slower", retry_after=0.01),
        "there",
        ModelError("rate_limited", "much slower", retry_after=1000.0),
        ModelError("authentication", "who are you? " * 200),
    ]
    async with at_work(tmp_path, troubles) as desk:
        await desk.told("Hello?")
        await desk.told("And now?")
        await desk.told("Still?")
        assert len(await desk.payloads(ModelFailed)) == 3
        assert len(await desk.payloads(WakeDeferred)) == 2
        with anyio.fail_after(15):
            assert (await replays(desk)).requests_compared == 4


async def test_a_run_out_of_time_comes_out_again(tmp_path: Path) -> None:
    @tool
    async def sleep_long() -> str:
        """Sleep."""
        await anyio.sleep(60)
        return "never"

    async with at_work(
        *(tmp_path, [calls(LOOK, ("sleep_long", "{}")), "next time"]),
        tools=[sleep_long, look],
        equipment={"limits": RunLimits(seconds=0.2)},
    ) as desk:
        await desk.told("Go.")
        assert desk.session.last is not None
        assert desk.session.last.ended == "over_budget"
        await desk.told("And now?")
        await replays(desk)


async def test_a_summary_in_place_of_a_long_conversation_comes_out_again(tmp_path: Path) -> None:
    turns = [_told_or_summary] * 12
    async with at_work(tmp_path, turns, window=6_000, max_output_tokens=500) as desk:
        for number in range(5):
            await desk.told(f"Word {number}: " + "long " * 900)
        assert await desk.payloads(ContextCompacted)
        await replays(desk)


def _told_or_summary(request: ModelRequest) -> str:
    return f"answer {len(request.rows)}" if request.tools else "what was said"


async def test_directives_and_queued_wakes_come_out_again(tmp_path: Path) -> None:
    block = (
        '<holdfast-session-loop>{"outcome": "continue", "summary": "goes on",'
        ' "follow_up_seconds": 60, "queued_wakes": [{"reason": "later", "delay_seconds": 90}],'
        ' "learnings": [{"kind": "lesson", "title": "tea", "detail": "hot"}]}'
        "</holdfast-session-loop>"
    )
    asks = (
        '<holdfast-session-loop>{"outcome": "sleep", "custom_tool_request": {"name": "order",'
        ' "input": {"item": "tea"}}}</holdfast-session-loop>'
    )
    turns = [f"First. {block}", f"Second. {asks}", "Third."]
    async with at_work(tmp_path, turns, equipment={"directives": True}) as desk:
        await desk.told("Begin.")
        queued = WakeQueued(
            queued_wake_id="wak_outside", due_at=datetime(2020, 1, 1, tzinfo=UTC), reason="due"
        )
        await _append(desk, queued)
        await desk.session.wake(goes_on=True)
        await desk.told("Go on.")
        pending = (await desk.state()).custom
        assert pending is not None
        await _append(
            desk, CustomToolResult(request_id=pending.id, tool_name="order", output="tea comes")
        )
        await desk.told()
        assert await desk.payloads(WakesCompleted)
        assert await desk.payloads(DirectiveTaken)
        await replays(desk)


async def test_managed_calls_come_out_again_with_their_spans(tmp_path: Path) -> None:
    turns = [calls(LOOK, ("fail", '{"text": "x"}'), DEPLOY), "done"]
    async with at_work(
        tmp_path, turns, tools=[look, fail, deploy], equipment={"managed": True}
    ) as desk:
        await desk.told("Go.")
        await _answer(tmp_path, desk, YES)
        await desk.told()
        assert (await replays(desk)).wakes == 2


async def test_an_answer_that_was_given_again_is_given_again(tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    workspace.mkdir()
    (workspace / "notes.md").write_text("tea\n", "utf-8")
    read = calls(("read", '{"path": "notes.md"}'))
    async with at_work(tmp_path, [read, read, "tea"], profile="code", workspace=workspace) as desk:
        await desk.told("Read it twice.")
        kinds = [one.type for one in await all_events(desk) if one.type.startswith("call.")]
        assert kinds == [*("call.asked", "call.intended", "call.settled", "call.asked"), kinds[-1]]
        await replays(desk)


async def test_children_that_were_lost_are_found_lost_again(tmp_path: Path) -> None:
    async with at_work(tmp_path, ["I see."]) as desk:
        await desk.session.send("Go.")
        begun = [ChildCreated(child_session_id=f"ses_{name}", message="work") for name in "edcba"]
        await _append(desk, *begun)
        await desk.told()
        assert len(await desk.payloads(ChildIdle)) == 5
        await replays(desk)


async def test_a_secret_that_the_model_says_is_nowhere_and_the_run_comes_out_again(
    tmp_path: Path,
) -> None:
    secret = "hunter2-hunter2"
    around = msgspec.structs.replace(home_of(tmp_path), secrets=(secret,))
    turns = [f"It is {secret}.", ModelError("authentication", f"{secret} is no key")]
    async with at_work(tmp_path, turns, surroundings=around) as desk:
        await desk.told("Tell me.")
        await desk.told("And again.")
        events = await all_events(desk)
        assert not any(secret in str(one.payload) for one in events)
        await replays(desk)


@pytest.mark.parametrize("background", [True, False])
async def test_work_that_was_handed_over_comes_out_again(tmp_path: Path, background: bool) -> None:
    work = {"subagent_type": "helper", "prompt": "Look.", "background": background}
    helper = Agent(id="helper", description="Helps.", mode="subagent")
    above = Agent(id="above", description="Asks.", subagents=("helper",))
    turns = [calls(("task", msgspec.json.encode(work).decode())), *["So it is."] * 3]
    async with Holdfast(
        surroundings=home_of(tmp_path),
        settings=Settings(),
        agents=[helper, above],
        profile="locked",
    ) as holdfast:
        session = await holdfast.new_session(agent="above", model=ScriptedModel(turns))
        async for _ in session.run("Ask the helper."):
            pass
        log = session._parts.log  # pyright: ignore[reportPrivateUsage] - its journal
        assert log is not None
        events = await (await log.journal()).events(session.id, limit=1000)
    assert {"session.child_created", "session.child_idle"} <= {one.type for one in events}
    found = await again(events)
    assert (found.divergence, found.requests_compared >= 2) == (None, True)
