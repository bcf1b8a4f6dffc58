"""What people say while a model is asked: it is told once, taken into account, and ends nothing."""

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TypeAlias

import anyio
from agents_at_work import Desk, at_work, calls

from holdfast import tool
from holdfast.agent.conversation import BROKEN_OFF
from holdfast.agent.models.scripted import Played, ScriptedModel
from holdfast.contract.agents import RunLimits
from holdfast.contract.chunks import AssistantChunk, UserChunk
from holdfast.contract.events import AgentMessage, CallSettled
from holdfast.contract.model import (
    Heard,
    ModelError,
    ModelReply,
    ModelRequest,
    ModelUsage,
    TextDelta,
)
from holdfast.contract.wake_events import ContextCompacted

BUSY = ModelError("overloaded", "busy", retry_after=0.01)
LONG = "word " * 3_000

Happens: TypeAlias = Callable[[Desk], Awaitable[object]]


class Meanwhile(ScriptedModel):
    """A model during whose replies something happens, by their numbers."""

    desk: Desk

    def __init__(self, turns: Iterable[Played], happens: dict[int, Happens]) -> None:
        super().__init__(turns, window=10_000, max_output_tokens=1_000)
        self._happens = happens

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        happens = self._happens.get(len(self.requests))
        if happens is not None:
            await happens(self.desk)
        return await super().complete(request, heard)


def _says(words: str) -> Happens:
    return lambda desk: desk.session.send(words)


async def test_words_during_a_request_that_fails_are_told_with_the_next_one(tmp_path: Path) -> None:
    model = Meanwhile([BUSY, "both heard"], {0: _says("And B.")})
    async with at_work(tmp_path, [], equipment={"model": model}) as desk:
        model.desk = desk
        await desk.told("Do A.")
        assert [one.content for one in desk.rows() if isinstance(one, UserChunk)] == [
            "Do A.",
            "And B.",
        ]
        assert len(desk.model.requests) == 2
        assert (await desk.state()).pending == ()
        assert len(await desk.payloads(AgentMessage)) == 1


async def test_words_during_a_summary_are_told_once_and_taken_into_account(tmp_path: Path) -> None:
    model = Meanwhile([LONG, LONG, "SUMMARY", "both heard"], {2: _says("And B.")})
    async with at_work(tmp_path, [], equipment={"model": model}) as desk:
        model.desk = desk
        await desk.told("One " + LONG)
        await desk.told("Two")
        await desk.told("Do A.")
        assert desk.rows()[-2:] == (UserChunk("Do A."), UserChunk("And B."))
        assert len(desk.model.requests) == 4
        assert (await desk.state()).pending == ()


async def test_who_stops_a_summary_loses_nothing_of_the_conversation(tmp_path: Path) -> None:
    async def stop(desk: Desk) -> None:
        await desk.session.interrupt()
        await anyio.sleep_forever()

    model = Meanwhile([LONG, LONG, "SUMMARY", "here"], {2: stop})
    async with at_work(tmp_path, [], equipment={"model": model}) as desk:
        model.desk = desk
        await desk.told("One " + LONG)
        await desk.told("Two")
        await desk.told("Do A.")
        assert desk.session.last is not None
        assert desk.session.last.ended == "cancelled"
        assert not await desk.payloads(ContextCompacted)
        assert len(desk.model.requests) == 2  # the third was given up, and none came behind it


async def test_a_summary_is_charged_to_the_run(tmp_path: Path) -> None:
    limits = RunLimits(tokens=1_000)
    costly = ModelReply(text="SUMMARY", usage=ModelUsage(input_tokens=2_000))
    model = Meanwhile([LONG, LONG, costly, calls(("look", "{}")), "never"], {})
    equipment = {"model": model, "limits": limits}
    async with at_work(tmp_path, [], equipment=equipment, tools=[look]) as desk:
        await desk.told("One " + LONG)
        await desk.told("Two")
        await desk.told("Three")
        assert desk.session.last is not None
        assert desk.session.last.ended == "over_budget"
        assert len(desk.model.requests) == 4


async def test_the_tools_go_along_with_the_request_for_a_summary(tmp_path: Path) -> None:
    turns = [calls(("look", "{}")), LONG, LONG, "SUMMARY", "here"]
    async with at_work(
        tmp_path, turns, tools=[look], window=10_000, max_output_tokens=1_000
    ) as desk:
        await desk.told("One")
        await desk.told("Two " + LONG)
        await desk.told("Three")
        assert [one.name for one in desk.model.requests[3].tools] == [
            one.name for one in desk.model.requests[0].tools
        ]
        assert "look" in {one.name for one in desk.model.requests[3].tools}


async def test_words_that_alone_are_too_long_are_not_summarised(tmp_path: Path) -> None:
    turns = ["short", "SUMMARY", "read it all"]
    async with at_work(tmp_path, turns, window=10_000, max_output_tokens=1_000) as desk:
        await desk.told("One")
        await desk.told("Do this: " + LONG * 3)
        assert desk.rows()[-1] == UserChunk("Do this: " + LONG * 3)


class _Speaking(ScriptedModel):
    """Says half a sentence, and then waits to be stopped; the second time it is whole."""

    desk: Desk

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        if not self.requests:
            self.requests.append(request)
            assert heard is not None
            heard(TextDelta("There are two: a, b"))
            await self.desk.session.interrupt("The second one.")
            await anyio.sleep_forever()
        return await super().complete(request, heard)


async def test_a_model_is_told_what_it_had_said_when_it_was_stopped(tmp_path: Path) -> None:
    model = _Speaking(["unused", "b it is"])
    async with at_work(tmp_path, [], equipment={"model": model}) as desk:
        model.desk = desk
        await desk.told("Which?")
        assert desk.session.last is not None
        assert desk.session.last.response == "b it is"
        assert desk.rows()[-4:] == (
            UserChunk("Which?"),
            AssistantChunk("There are two: a, b"),
            UserChunk(BROKEN_OFF),
            UserChunk("The second one."),
        )


@tool
def look() -> str:
    """Look."""
    return "seen"


BEGUN: list[int] = []


@tool
async def slow(number: int) -> str:
    """Take long for the first."""
    BEGUN.append(number)
    await anyio.sleep(30 if number == 1 else 0)
    return "done"


async def test_calls_that_a_limit_cut_off_are_not_made_when_somebody_speaks(tmp_path: Path) -> None:
    BEGUN.clear()
    asked = calls(*(("slow", f'{{"number": {number}}}') for number in (1, 2, 3)))
    limits = RunLimits(seconds=0.2)
    turns = [asked, "As you wish."]
    async with at_work(tmp_path, turns, tools=[slow], equipment={"limits": limits}) as desk:
        await desk.told("Do three things.")
        assert desk.session.last is not None
        assert desk.session.last.ended == "over_budget"
        await desk.told("Stop. Do nothing more.")
        assert desk.session.last.response == "As you wish."
        assert BEGUN == [1]
        told = [bytes(one.envelope).decode() for one in await desk.payloads(CallSettled)]
        assert sum("was not made: the run ended before it" in one for one in told) == 2
        assert desk.rows()[-1] == UserChunk("Stop. Do nothing more.")
