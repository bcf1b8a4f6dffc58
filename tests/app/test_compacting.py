"""A person who has a conversation summarised: the model goes on from that, the log stays whole."""

from pathlib import Path

import pytest
from agents_at_work import at_work, calls

from holdfast import tool
from holdfast.contract.chunks import UserChunk
from holdfast.contract.model import ModelError
from holdfast.contract.wake_events import ContextCompacted

pytestmark = pytest.mark.anyio


@tool(permission_policy="always_ask")
def deploy() -> str:
    """Deploy."""
    return "deployed"


@pytest.mark.req("SPEC-PROMPT-04")
async def test_a_person_who_compacts_keeps_no_turn_and_loses_no_event(tmp_path: Path) -> None:
    async with at_work(tmp_path, ["one", "two", "SUMMARY", "three"]) as desk:
        await desk.told("First.")
        await desk.told("Second.")
        before = await desk.events()
        assert await desk.session.compact("Keep the names.")
        assert "The person adds: Keep the names." in str(desk.rows()[-1])
        after = await desk.events()
        assert after[: len(before)] == before
        (compacted,) = await desk.payloads(ContextCompacted)
        assert (compacted.summary, compacted.automatic) == ("SUMMARY", False)
        await desk.told("Third.")
        told = [row.content or "" for row in desk.rows() if isinstance(row, UserChunk)]
        assert [one[-7:] for one in told] == ["SUMMARY", "Third."[-7:]]
        assert not any("First." in one or "Second." in one for one in told)


async def test_nothing_is_left_out_where_the_model_gives_no_summary(tmp_path: Path) -> None:
    wrong = ModelError("authentication", "the key is refused")
    async with at_work(tmp_path, ["one", wrong, "two"]) as desk:
        assert not await desk.session.compact()
        await desk.told("First.")
        with pytest.raises(ModelError, match="the key is refused"):
            await desk.session.compact()
        assert not await desk.payloads(ContextCompacted)
        await desk.told("Second.")
        assert UserChunk("First.") in desk.rows()


async def test_calls_that_wait_are_answered_first(tmp_path: Path) -> None:
    async with at_work(tmp_path, [calls(("deploy", "{}"))], tools=[deploy]) as desk:
        await desk.told("Deploy.")
        with pytest.raises(RuntimeError, match="waits for the answers to its calls"):
            await desk.session.compact()
