"""Replies that are not whole: what the model is told of them, and how often."""

from pathlib import Path

import pytest
from agents_at_work import at_work, calls

from holdfast import tool
from holdfast.agent.cut_replies import MOST_CUT, WITHHELD
from holdfast.agent.models.scripted import Played
from holdfast.contract.agents import RunLimits
from holdfast.contract.chunks import AskedCall, AssistantChunk, UserChunk
from holdfast.contract.events import AgentMessage
from holdfast.contract.model import ModelReply


@tool
def look() -> str:
    """Look."""
    return "seen"


def _cut(text: str | None = None, *names: str) -> ModelReply:
    return ModelReply(text=text, cut_calls=names, finish="length")


async def test_a_text_that_was_cut_goes_on_and_is_one_text_in_the_end(tmp_path: Path) -> None:
    turns: list[Played] = [_cut("Half a sen"), "tence."]
    async with at_work(tmp_path, turns) as desk:
        await desk.told("Speak.")
        assert desk.session.last is not None
        assert desk.session.last.response == "Half a sentence."
        assert [one.message for one in await desk.payloads(AgentMessage)] == ["Half a sentence."]
        assert desk.rows()[-2:] == (UserChunk("Speak."), AssistantChunk("Half a sen"))
        (notice,) = desk.model.requests[1].notices
        assert "cut off at the limit of tokens" in notice
        assert not desk.model.requests[0].notices


async def test_a_call_that_was_cut_is_named_to_the_model_and_not_made(tmp_path: Path) -> None:
    turns: list[Played] = [_cut("I write it.", "write"), calls(("look", "{}")), "done"]
    async with at_work(tmp_path, turns, tools=[look]) as desk:
        await desk.told("Write it.")
        assert desk.session.last is not None
        assert desk.session.last.response == "done"
        (notice,) = desk.model.requests[1].notices
        assert "The call of write in it was not whole, and was not made" in notice
        assert not desk.model.requests[2].notices


async def test_whole_calls_of_a_cut_reply_are_made(tmp_path: Path) -> None:
    cut = ModelReply(calls=(AskedCall("c1", "look", "{}"),), cut_calls=("look",), finish="length")
    async with at_work(tmp_path, [cut, "done"], tools=[look]) as desk:
        await desk.told("Look twice.")
        assert desk.session.last is not None
        assert desk.session.last.response == "done"
        assert "seen" in str(desk.rows()[-1])
        assert "look in it was not whole" in desk.model.requests[1].notices[0]


async def test_replies_that_are_cut_again_and_again_end_the_run_and_say_why(tmp_path: Path) -> None:
    turns: list[Played] = [_cut(f"{number} ") for number in range(MOST_CUT + 1)]
    async with at_work(tmp_path, turns) as desk:
        await desk.told("Speak.")
        end = desk.session.last
        assert end is not None
        assert (end.ended, end.response) == ("over_budget", "0 1 2 3 ")
        assert "raise max_output_tokens" in str(end.problem)


async def test_a_reply_that_was_cut_before_a_word_is_no_empty_one(tmp_path: Path) -> None:
    async with at_work(tmp_path, [_cut(), "here"]) as desk:
        await desk.told("Think.")
        assert desk.session.last is not None
        assert desk.session.last.response == "here"
        assert "cut off" in desk.model.requests[1].notices[0]


@pytest.mark.parametrize("text", [None, "I can tell you that"])
async def test_a_reply_that_was_withheld_is_not_asked_for_again(
    tmp_path: Path, text: str | None
) -> None:
    async with at_work(tmp_path, [ModelReply(text=text, finish="content_filter")]) as desk:
        await desk.told("Tell me.")
        end = desk.session.last
        assert end is not None
        assert (end.ended, end.problem, end.response) == ("failed", WITHHELD, text or "")
        assert len(desk.model.requests) == 1


async def test_cut_replies_count_as_rounds(tmp_path: Path) -> None:
    turns: list[Played] = [_cut("a "), _cut("b "), "never"]
    async with at_work(tmp_path, turns, equipment={"limits": RunLimits(rounds=2)}) as desk:
        await desk.told("Speak.")
        end = desk.session.last
        assert end is not None
        assert (end.ended, end.response) == ("iteration_cap", "a b ")
