"""How much of a conversation stays as it was said when a summary is made for the rest."""

from pathlib import Path

import pytest
from agents_at_work import Desk, at_work, calls

from holdfast import tool
from holdfast.contract.chunks import AssistantChunk, SystemChunk, UserChunk
from holdfast.contract.events import UserMessage
from holdfast.contract.tokens import tokens_of
from holdfast.contract.wake_events import ContextCompacted

pytestmark = pytest.mark.anyio

WINDOW = 10_000
LONG = "word " * 3_100
TURN = "some " * 500
"""Of which two and their answers are less than a fourth of the window."""
WIDE = "wide " * 1_900


@pytest.mark.req("SPEC-PROMPT-04")
@pytest.mark.parametrize("wide", [False, True])
async def test_the_last_two_turns_stay_if_they_are_no_more_than_a_fourth(
    tmp_path: Path, wide: bool
) -> None:
    reply = WIDE if wide else "third"
    assert (tokens_of(reply) + 2 * tokens_of(TURN) > WINDOW // 4) is wide
    turns = [LONG, "second", reply, "SUMMARY", "fourth"]
    async with at_work(
        tmp_path, turns, window=WINDOW, max_output_tokens=1_000, profile="bare"
    ) as desk:
        await desk.told(f"One {LONG}")
        await desk.told("Two")
        await desk.told(f"Three {TURN}")
        assert not await desk.payloads(ContextCompacted)
        before = await desk.events()
        await desk.told(f"Four {TURN}")
        (compacted,) = await desk.payloads(ContextCompacted)
        assert (compacted.summary, compacted.automatic) == ("SUMMARY", True)
        system, summary, *kept = desk.rows()
        assert system.content == "You are tested."
        assert isinstance(summary, UserChunk)
        assert "SUMMARY" in summary.content
        fourth = UserChunk(f"Four {TURN}")
        third = [UserChunk(f"Three {TURN}"), AssistantChunk("third")]
        assert kept == ([fourth] if wide else [*third, fourth])
        after = await desk.events()
        assert after[: len(before)] == before, "the log itself is never shortened"
        assert desk.session.last is not None
        assert desk.session.last.response == "fourth"


async def test_words_during_a_call_whose_answer_is_summarised_stay_and_the_answer_does_not(
    tmp_path: Path,
) -> None:
    """They have a lower number than the answer, and stand behind it."""
    spoken: list[Desk] = []

    @tool
    async def build(what: str) -> str:
        """Build something."""
        if spoken:
            desk = spoken.pop()
            log = desk.holdfast.parts.log
            assert log is not None
            journal = await log.journal()
            await journal.append(desk.session.id, [UserMessage(message="Use staging!")])
        return f"{what} " * 6_000

    turns = [calls(("build", '{"what": "boat"}')), "the summary", "done"]
    async with at_work(
        tmp_path, turns, tools=[build], window=8_000, max_output_tokens=1_000
    ) as desk:
        spoken.append(desk)
        await desk.told("Build a boat.")
        (compacted,) = await desk.payloads(ContextCompacted)
        assert len(desk.model.requests) == 3
        rows = desk.rows()
        assert [type(row) for row in rows] == [SystemChunk, UserChunk, UserChunk]
        assert rows[-1] == UserChunk("Use staging!")
        assert "the summary" in compacted.summary
