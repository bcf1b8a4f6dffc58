"""One wake: what is asked, run, written down and told, in its order."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import msgspec
import pytest
from agents_at_work import at_work, calls, home_of
from inline_snapshot import snapshot

from holdfast import tool
from holdfast.agent.models.scripted import ScriptedModel
from holdfast.contract.chunks import (
    AskedCall,
    AssistantChunk,
    SystemChunk,
    ToolResultChunk,
    UserChunk,
)
from holdfast.contract.events import AgentMessage, CallAsked, CallSettled, ModelReplied
from holdfast.contract.model import Heard, ModelError, ModelReply, ModelRequest

pytestmark = pytest.mark.anyio


@tool(read_only=True, inline=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


ADD = ("add", '{"a": 1, "b": 2}')


async def test_a_wake_asks_settles_asks_again_and_rests(tmp_path: Path) -> None:
    async with at_work(tmp_path, [calls(ADD, text="Let me see."), "3"], tools=[add]) as desk:
        assert await desk.told("1 + 2?") == snapshot(
            [
                "user.message",
                "session.status_changed",
                "span.started",
                "agent.equipped",
                "model.requested",
                "model.replied",
                "session.events_processed",
                "call.asked",
                "call.intended",
                "call.settled",
                "model.requested",
                "model.replied",
                "agent.message",
                "session.status_idle",
                "span.completed",
            ]
        )
        end = desk.session.last
        assert end is not None
        assert (end.executed, end.ended, end.stop_reason, end.response) == (
            *(True, "final_response"),
            *("idle", "3"),
        )
        system, said, reply, answer = desk.rows()
        assert system == SystemChunk("You are tested.")
        assert said == UserChunk("1 + 2?")
        assert isinstance(reply, AssistantChunk)
        assert reply.content == "Let me see."
        assert isinstance(answer, ToolResultChunk)
        assert answer.tool_call_id == "c1"
        assert '"result":3' in answer.content


@pytest.mark.req("BOA-EVT-13")
async def test_the_last_words_close_a_normal_wake_with_a_summary(tmp_path: Path) -> None:
    async with at_work(tmp_path, ["word " * 100]) as desk:
        await desk.told("Speak.")
        (message,) = await desk.payloads(AgentMessage)
        assert message.message == "word " * 100
        assert message.summary == ("word " * 100)[:220]
        kinds = [event.type for event in await desk.events()]
        assert kinds[-3:] == ["agent.message", "session.status_idle", "span.completed"]


async def test_nothing_to_do_is_no_wake(tmp_path: Path) -> None:
    async with at_work(tmp_path, ["hello"]) as desk:
        await desk.told("Hi.")
        before = len(await desk.events())
        end = await desk.session.wake()
        assert (end.executed, end.reason) == (False, "idle")
        assert len(await desk.events()) == before


async def test_what_was_told_before_stays_a_prefix_of_what_is_told_next(tmp_path: Path) -> None:
    async with at_work(tmp_path, [calls(ADD), "3", "bye"], tools=[add]) as desk:
        await desk.told("1 + 2?")
        await desk.told("Thanks.")
        for before, after in zip(desk.model.requests, desk.model.requests[1:], strict=False):
            assert after.rows[: len(before.rows)] == before.rows
            assert after.tools == before.tools


async def test_large_arguments_arrive_whole(tmp_path: Path) -> None:
    seen: list[int] = []

    @tool(read_only=True, inline=True)
    def measure(text: str) -> int:
        """Measure a text."""
        seen.append(len(text))
        return len(text)

    long = '{"text": "' + "x" * 300_000 + '"}'
    async with at_work(tmp_path, [calls(("measure", long)), "done"], tools=[measure]) as desk:
        await desk.told("Measure.")
        assert seen == [300_000]
        (asked,) = await desk.payloads(CallAsked)
        assert asked.arguments == long


async def test_malformed_calls_are_answered_and_never_fatal(tmp_path: Path) -> None:
    broken = calls(("add", '{"a": 1'), ("add", "[1]"), ("nobody", "{}"), ("add", ""))
    async with at_work(tmp_path, [broken, "sorry"], tools=[add]) as desk:
        await desk.told("Go.")
        assert desk.session.last is not None
        assert desk.session.last.ended == "final_response"
        answers = [row for row in desk.rows() if isinstance(row, ToolResultChunk)]
        assert [row.tool_call_id for row in answers] == ["c1", "c2", "c3", "c4"]
        assert all('"ok":false' in row.content for row in answers)
        assert '"tool_not_found"' in answers[2].content


async def test_calls_without_names_of_their_own_are_told_apart(tmp_path: Path) -> None:
    nameless = ModelReply(
        calls=(AskedCall("same", *ADD), AskedCall("same", "add", '{"a": 5, "b": 5}')),
        finish="tool_calls",
    )
    async with at_work(tmp_path, [nameless, "done"], tools=[add]) as desk:
        await desk.told("Go.")
        answers = [row for row in desk.rows() if isinstance(row, ToolResultChunk)]
        assert len({row.tool_call_id for row in answers}) == 2
        assert ['"result":3' in answers[0].content, '"result":10' in answers[1].content] == [
            True,
            True,
        ]


@pytest.mark.req("CLI-RUN-18", "OSA-DRV-05", "RATH-LOP-10")
async def test_answers_stand_in_the_order_of_the_calls_whatever_ends_first(tmp_path: Path) -> None:
    started, order = anyio.Event(), list[str]()

    @tool(read_only=True, parallel_safe=True, resource_key=lambda values: (str(values["name"]),))
    async def wait(name: str) -> str:
        """Wait for the other."""
        if name == "first":
            await started.wait()
        else:
            started.set()
        order.append(name)
        return name

    asked = calls(("wait", '{"name": "first"}'), ("wait", '{"name": "second"}'))
    async with at_work(tmp_path, [asked, "done"], tools=[wait]) as desk:
        await desk.told("Go.")
        assert order == ["second", "first"]
        answers = [row for row in desk.rows() if isinstance(row, ToolResultChunk)]
        assert [row.tool_call_id for row in answers] == ["c1", "c2"]
        settled = await desk.payloads(CallSettled)
        assert len(settled) == 2


@pytest.mark.parametrize(
    ("safe", "keys"), [(False, ("a", "b")), (True, ("same", "same"))], ids=["unsafe", "one-key"]
)
async def test_unsafe_calls_and_calls_of_one_resource_never_overlap(
    tmp_path: Path, safe: bool, keys: tuple[str, str]
) -> None:
    inside, most = 0, 0

    @tool(read_only=True, parallel_safe=safe, resource_key=lambda values: (str(values["key"]),))
    async def work(key: str) -> str:
        """Work on something."""
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await anyio.sleep(0.01)
        inside -= 1
        return key

    asked = calls(*(("work", f'{{"key": "{key}"}}') for key in keys))
    async with at_work(tmp_path, [asked, "done"], tools=[work]) as desk:
        await desk.told("Go.")
    assert most == 1


async def test_words_that_come_during_calls_stand_behind_their_answers(tmp_path: Path) -> None:
    async with at_work(tmp_path, []) as desk:

        @tool(read_only=True)
        async def listen() -> str:
            """Somebody speaks meanwhile."""
            await desk.session.send("And another thing.")
            return "heard"

    async with at_work(tmp_path, [calls(("listen", "{}")), "both done"], tools=[listen]) as desk:
        await desk.told("Go.")
        *_, answer, later = desk.rows()
        assert isinstance(answer, ToolResultChunk)
        assert later == UserChunk("And another thing.")
        assert (await desk.state()).pending == ()


class _Speaking(ScriptedModel):
    """A model during whose first reply somebody speaks."""

    speak: Callable[[], Awaitable[object]] | None = None

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        if self.speak is not None:
            await self.speak()
            self.speak = None
        return await super().complete(request, heard)


async def test_words_that_come_during_a_last_reply_get_a_reply_of_their_own(
    tmp_path: Path,
) -> None:
    model = _Speaking(["first", "second"])
    async with at_work(tmp_path, [], equipment={"model": model}) as desk:
        model.speak = lambda: desk.session.send("Wait!")
        await desk.told("Go.")
        assert desk.session.last is not None
        assert desk.session.last.response == "second"
        assert model.requests[-1].rows[-2:] == (AssistantChunk("first"), UserChunk("Wait!"))
        assert (await desk.state()).pending == ()


async def test_replies_are_written_down_before_their_calls_run(tmp_path: Path) -> None:
    seen: list[int] = []
    async with at_work(tmp_path, []) as desk:

        @tool(read_only=True)
        async def look() -> int:
            """How many replies are in the journal?"""
            seen.append(len(await desk.payloads(ModelReplied)))
            return 0

    async with at_work(tmp_path, [calls(("look", "{}")), "done"], tools=[look]) as desk:
        await desk.told("Go.")
    assert seen == [1]


async def test_a_secret_that_a_model_says_is_in_no_event_and_in_no_answer(tmp_path: Path) -> None:
    secret = "hunter22hunter22"
    around = msgspec.structs.replace(home_of(tmp_path), secrets=(secret,))
    wrong = ModelError("bad_request", f"{secret} is not welcome")
    async with at_work(tmp_path, [f"It is {secret}.", wrong], surroundings=around) as desk:
        for said in ("Well?", "And now?"):
            await desk.told(said)
            assert desk.session.last is not None
            assert secret not in repr(desk.session.last)
        assert (await desk.payloads(AgentMessage))[0].message.startswith("It is ")
        assert secret not in repr(await desk.events())
