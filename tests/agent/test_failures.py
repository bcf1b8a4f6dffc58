"""Models that fail, limits that are reached, replies that say nothing: all of them are ends."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from agents_at_work import at_work, calls

from holdfast import tool
from holdfast.agent import asking
from holdfast.agent.asking import pause_before
from holdfast.agent.beginning import MOST_ATTEMPTS
from holdfast.agent.cut_replies import NUDGE
from holdfast.contract.agents import RunLimits
from holdfast.contract.chunks import ToolResultChunk, UserChunk
from holdfast.contract.events import (
    AgentMessage,
    CallSettled,
    ModelRequested,
    SpanCompleted,
    StatusIdle,
)
from holdfast.contract.model import ModelError, ModelReply, ModelRequest, ModelUsage
from holdfast.contract.session_state import due_micros
from holdfast.contract.wake_events import (
    ContextCompacted,
    ModelFailed,
    OutputsPruned,
    WakeDeferred,
)

pytestmark = pytest.mark.anyio

BUSY = ModelError("overloaded", "come back later")
WRONG = ModelError("authentication", "the key is refused; set it again")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "FIRST_PAUSE", 0.001)


@tool(read_only=True, inline=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


ADD = ("add", '{"a": 1, "b": 2}')


async def test_a_failure_that_may_pass_is_tried_again_and_written_down(tmp_path: Path) -> None:
    async with at_work(tmp_path, [BUSY, BUSY, "here I am"]) as desk:
        await desk.told("Hello?")
        assert desk.session.last is not None
        assert desk.session.last.response == "here I am"
        failed = await desk.payloads(ModelFailed)
        assert [(one.trouble, one.attempt) for one in failed] == [
            ("overloaded", 1),
            ("overloaded", 2),
        ]
        assert all(one.retry_in_seconds is not None for one in failed)
        hashes = [one.request_hash for one in await desk.payloads(ModelRequested)]
        assert len(set(hashes)) == 1


def test_pauses_grow_and_heed_what_the_provider_asks_for() -> None:
    usual = [pause_before(attempt, BUSY) for attempt in range(1, 9)]
    assert usual == sorted(usual)
    assert usual[-1] <= asking.LONGEST_PAUSE
    asked = ModelError("rate_limited", "slow down", retry_after=40.0)
    assert pause_before(1, asked) == 40.0


async def test_a_model_that_stays_away_defers_the_session_and_loses_no_word(tmp_path: Path) -> None:
    limits = RunLimits(retries=1)
    async with at_work(tmp_path, [BUSY, BUSY], equipment={"limits": limits}) as desk:
        before = datetime.now(UTC)
        await desk.told("Hello?")
        end = desk.session.last
        assert end is not None
        assert (end.ended, end.stop_reason) == ("failed", "rescheduling")
        state = await desk.state()
        assert state.status == "rescheduling"
        assert len(state.pending) == 1
        (deferred,) = await desk.payloads(WakeDeferred)
        assert 4 <= (deferred.until - before).total_seconds() <= 7


@pytest.mark.req("BOA-WAKE-11")
async def test_without_a_word_that_waits_a_wake_of_its_own_keeps_the_session_alive(
    tmp_path: Path,
) -> None:
    limits = RunLimits(retries=0)
    turns: list[Any] = [calls(ADD), BUSY]
    async with at_work(tmp_path, turns, tools=[add], equipment={"limits": limits}) as desk:
        await desk.told("1 + 2?")
        state = await desk.state()
        assert state.pending == ()
        (wake,) = state.wakes
        assert wake.dedupe_key == f"retry:{desk.session.id}:session.retry"


@pytest.mark.req("BOA-WAKE-12")
async def test_another_failure_ends_the_run_and_says_why(tmp_path: Path) -> None:
    async with at_work(tmp_path, [WRONG]) as desk:
        await desk.told("Hello?")
        end = desk.session.last
        assert end is not None
        assert (end.ended, end.stop_reason) == ("failed", "idle")
        assert end.problem == "the key is refused; set it again"
        (idle,) = await desk.payloads(StatusIdle)
        assert idle.summary == "Wake failed: the key is refused; set it again"
        (span,) = await desk.payloads(SpanCompleted)
        assert (span.span_kind, span.result) == ("wake", "error")
        assert (await desk.state()).status == "idle"


async def test_failures_in_a_row_are_spaced_out_and_then_a_person_has_to_look(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path, [WRONG] * MOST_ATTEMPTS + ["at last"]) as desk:
        pauses: list[float] = []
        for _ in range(MOST_ATTEMPTS):
            await desk.told(None if pauses else "Hello?")
            deferred = (await desk.payloads(WakeDeferred))[-1]
            pauses.append((deferred.until - datetime.now(UTC)).total_seconds())
        assert pauses == sorted(pauses)
        state = await desk.state()
        assert (state.status, state.stop_reason) == ("requires_action", "requires_action")
        assert due_micros(state) is None
        await desk.told("Try again.")
        assert desk.session.last is not None
        assert desk.session.last.response == "at last"
        assert (await desk.state()).attempts == 0


async def test_an_empty_reply_is_asked_for_again_with_a_nudge_and_not_counted(
    tmp_path: Path,
) -> None:
    limits = RunLimits(rounds=1)
    turns = [ModelReply(), ModelReply(), "here"]
    async with at_work(tmp_path, turns, equipment={"limits": limits}) as desk:
        await desk.told("Hello?")
        assert desk.session.last is not None
        assert desk.session.last.response == "here"
        assert [NUDGE in one.notices for one in desk.model.requests] == [False, True, True]
        assert all(one.rows == desk.model.requests[0].rows for one in desk.model.requests)


async def test_a_model_that_never_says_anything_ends_with_a_sentence(tmp_path: Path) -> None:
    async with at_work(tmp_path, [ModelReply()] * 3) as desk:
        await desk.told("Hello?")
        (message,) = await desk.payloads(AgentMessage)
        assert message.message == "(The model gave no answer.)"


@pytest.mark.req("CLI-RUN-25")
async def test_the_limit_of_rounds_ends_a_run_and_asks_a_person_to_look(tmp_path: Path) -> None:
    limits = RunLimits(rounds=2)
    async with at_work(
        tmp_path, [calls(ADD)] * 3, tools=[add], equipment={"limits": limits}
    ) as desk:
        await desk.told("Go.")
        end = desk.session.last
        assert end is not None
        assert end.ended == "iteration_cap"
        assert len(desk.model.requests) == 2
        (idle,) = await desk.payloads(StatusIdle)
        assert "a person should review" in idle.summary


@pytest.mark.parametrize(
    ("limits", "usage", "words"),
    [
        (RunLimits(tokens=100), ModelUsage(input_tokens=90, output_tokens=20), "limits.tokens"),
        (RunLimits(cost=0.5), ModelUsage(cost_micros=600_000), "limits.cost"),
    ],
)
async def test_tokens_and_cost_are_limited(
    tmp_path: Path, limits: RunLimits, usage: ModelUsage, words: str
) -> None:
    first = ModelReply(calls=calls(ADD).calls, usage=usage, finish="tool_calls")
    async with at_work(
        tmp_path, [first, "never asked"], tools=[add], equipment={"limits": limits}
    ) as desk:
        await desk.told("Go.")
        end = desk.session.last
        assert end is not None
        assert end.ended == "over_budget"
        assert end.problem is not None
        assert words in end.problem
        assert len(desk.model.requests) == 1


async def test_a_run_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    @tool
    async def sleep_long() -> str:
        """Sleep."""
        await anyio.sleep(60)
        return "never"

    limits = RunLimits(seconds=0.2)
    async with at_work(
        *(tmp_path, [calls(("sleep_long", "{}")), "next time"]),
        tools=[sleep_long],
        equipment={"limits": limits},
    ) as desk:
        await desk.told("Go.")
        assert desk.session.last is not None
        assert desk.session.last.ended == "over_budget"
        await desk.told("And now?")
        assert desk.session.last.response == "next time"


async def test_what_a_model_raises_beside_its_own_errors_ends_the_run_as_failed(
    tmp_path: Path,
) -> None:
    def broken(_request: object) -> str:
        raise LookupError("a bug in the adapter")

    async with at_work(tmp_path, [broken]) as desk:
        await desk.told("Hello?")
        end = desk.session.last
        assert end is not None
        assert end.ended == "failed"
        assert end.problem == "LookupError: a bug in the adapter"


async def test_old_large_answers_give_way_before_anything_is_summarised(tmp_path: Path) -> None:
    @tool(read_only=True)
    def page(number: int) -> str:
        """Read a page."""
        return f"page {number} " + "x" * 12_000

    pages = [calls(("page", f'{{"number": {number}}}')) for number in range(8)]
    async with at_work(
        *(tmp_path, [*pages, "read"]), tools=[page], window=20_000, max_output_tokens=2_000
    ) as desk:
        await desk.told("Read eight pages.")
        assert desk.session.last is not None
        assert desk.session.last.response == "read"
        pruned = await desk.payloads(OutputsPruned)
        assert pruned
        contents = [row.content for row in desk.rows() if isinstance(row, ToolResultChunk)]
        assert "left out here" in contents[0]
        assert "page 7" in contents[-1]
        kept = await desk.payloads(CallSettled)
        assert len(kept) == 8
        assert all(b"xxxx" in bytes(one.envelope) for one in kept)


async def test_a_long_conversation_goes_on_from_a_summary(tmp_path: Path) -> None:
    long = "word " * 3_000
    turns = [long, long, "SUMMARY: they talk", "still here"]
    async with at_work(tmp_path, turns, window=10_000, max_output_tokens=1_000) as desk:
        await desk.told("One " + long)
        await desk.told("Two")
        before = len(await desk.events())
        await desk.told("Three")
        assert desk.session.last is not None
        assert desk.session.last.response == "still here"
        (compacted,) = await desk.payloads(ContextCompacted)
        assert compacted.summary == "SUMMARY: they talk"
        rows = desk.rows()
        assert isinstance(rows[1], UserChunk)
        assert "SUMMARY: they talk" in rows[1].content
        assert rows[-1] == UserChunk("Three")
        assert len(await desk.events()) > before


async def test_a_provider_that_finds_it_too_long_is_asked_again_with_less(tmp_path: Path) -> None:
    too_long = ModelError("context_length", "too many tokens")
    turns = ["word " * 500, too_long, "a summary", "better"]
    async with at_work(tmp_path, turns) as desk:
        await desk.told("One")
        await desk.told("Two")
        assert desk.session.last is not None
        assert desk.session.last.response == "better"
        assert len(desk.rows()) < len(desk.rows(1))


async def test_a_summary_that_fails_ends_the_run_and_is_asked_for_again(tmp_path: Path) -> None:
    long = "word " * 3_000
    limits = RunLimits(retries=0)
    turns = [long, long, BUSY, "SUMMARY", "still here"]
    async with at_work(
        tmp_path, turns, window=10_000, max_output_tokens=1_000, equipment={"limits": limits}
    ) as desk:
        await desk.told("One " + long)
        await desk.told("Two")
        await desk.told("Three")
        assert desk.session.last is not None
        assert (desk.session.last.ended, desk.session.last.stop_reason) == (
            "failed",
            "rescheduling",
        )
        assert not await desk.payloads(ContextCompacted)
        await desk.told()
        assert desk.session.last.response == "still here"
        (compacted,) = await desk.payloads(ContextCompacted)
        assert compacted.summary == "SUMMARY"
        assert desk.rows()[-1] == UserChunk("Three")


async def test_a_summary_that_is_too_long_itself_is_replaced_by_a_sentence(tmp_path: Path) -> None:
    long = "word " * 3_000
    turns = [long, long, ModelError("context_length", "too many tokens"), "still here"]
    async with at_work(tmp_path, turns, window=10_000, max_output_tokens=1_000) as desk:
        await desk.told("One " + long)
        await desk.told("Two")
        await desk.told("Three")
        assert desk.session.last is not None
        assert desk.session.last.response == "still here"
        (compacted,) = await desk.payloads(ContextCompacted)
        assert "could not be summarised" in compacted.summary
        assert desk.rows()[-1] == UserChunk("Three")


async def test_a_model_that_cannot_be_brief_is_not_asked_for_summaries_forever(
    tmp_path: Path,
) -> None:
    long = "word " * 9_000

    def turn(request: ModelRequest) -> str:
        return "at last" if request.rows[-1] == UserChunk("Two") else long

    async with at_work(tmp_path, [turn] * 20, window=10_000, max_output_tokens=1_000) as desk:
        await desk.told("One")
        await desk.told("Two")
        assert desk.session.last is not None
        assert desk.session.last.response == "at last"
        assert len(await desk.payloads(ContextCompacted)) == 1
