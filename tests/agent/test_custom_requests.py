"""What the application is asked for: one thing at a time, until it is given or interrupted."""

from pathlib import Path

import pytest
from agents_at_work import Desk, at_work, calls

from holdfast import tool
from holdfast.contract.chunks import ToolResultChunk
from holdfast.contract.events import (
    CallSettled,
    CustomToolResult,
    CustomToolUse,
    Payload,
    UserInterrupt,
)
from holdfast.contract.journal import NotFitting
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio

DIRECTED = {"directives": True}


def ending(text: str, fields: str) -> str:
    return f"{text} <holdfast-session-loop>{{{fields}}}</holdfast-session-loop>"


PAY = ending("", '"custom_tool_request": {"name": "pay", "input": {"n": 1}}')
LOOK_LATER = (
    '"custom_tool_request": {"name": "pay", "input": {"n": 1}},'
    ' "queued_wakes": [{"reason": "look", "delay_seconds": 60}]'
)


@tool(ownership="custom")
def order(item: str) -> str:
    """Order something; the application does it."""
    raise AssertionError("the application does it")


async def append(desk: Desk, *payloads: Payload) -> None:
    log = desk.holdfast.parts.log
    assert log is not None
    await (await log.journal()).append(desk.session.id, payloads)


async def give(desk: Desk, output: str) -> None:
    wanted = (await desk.state()).custom
    assert wanted is not None
    await append(desk, CustomToolResult(request_id=wanted.id, tool_name=wanted.name, output=output))


@pytest.mark.req("BOA-CUST-07")
async def test_a_second_request_waits_until_the_first_is_answered(tmp_path: Path) -> None:
    clock = FakeClock()
    both = calls(("order", '{"item": "tea"}'), ("order", '{"item": "milk"}'))
    async with at_work(tmp_path, [both, "Both come."], tools=[order], clock=clock) as desk:
        await desk.told("Order.")
        first = (await desk.state()).custom
        assert first is not None
        assert (first.name, first.input) == ("order", {"item": "tea"})
        assert first.requested_at == clock.unix_ns() // 1000
        assert len(await desk.payloads(CustomToolUse)) == 1
        clock.advance(5)
        await give(desk, "tea is ordered")
        await desk.told()
        second = (await desk.state()).custom
        assert second is not None
        assert (second.name, second.input) == ("order", {"item": "milk"})
        assert second.id != first.id
        assert second.requested_at == clock.unix_ns() // 1000
        assert len(desk.model.requests) == 1
        stale = CustomToolResult(request_id=first.id, tool_name="order", output="once more")
        with pytest.raises(NotFitting):
            await append(desk, stale)
        await give(desk, "milk is ordered")
        await desk.told()
        told = [row.content for row in desk.rows() if isinstance(row, ToolResultChunk)]
        assert ["tea is ordered" in told[0], "milk is ordered" in told[1]] == [True, True]
        assert (await desk.state()).custom is None


@pytest.mark.req("BOA-CUST-09")
async def test_a_run_that_comes_meanwhile_leaves_the_request_as_it_is(tmp_path: Path) -> None:
    clock = FakeClock()
    turns = [ending("", LOOK_LATER), "Still waiting.", "Nothing new.", "It is paid."]
    async with at_work(tmp_path, turns, clock=clock, equipment=DIRECTED) as desk:
        await desk.told("Pay.")
        asked = (await desk.state()).custom
        assert asked is not None
        await desk.session.send("How far are you?")
        by_a_word = await desk.session.wake()
        assert (by_a_word.executed, by_a_word.response) == (True, "Still waiting.")
        assert (await desk.state()).custom == asked
        clock.advance(60)
        by_a_wake = await desk.session.wake()
        assert (by_a_wake.executed, by_a_wake.response) == (True, "Nothing new.")
        assert (await desk.state()).custom == asked
        await give(desk, "receipt 7")
        await desk.told()
        assert "receipt 7" in str(desk.rows()[-1].content)
        assert desk.session.last is not None
        assert desk.session.last.response == "It is paid."
        assert (await desk.state()).custom is None


@pytest.mark.req("BOA-CUST-09")
@pytest.mark.parametrize("directed", [True, False])
async def test_an_interrupt_ends_the_request(tmp_path: Path, directed: bool) -> None:
    first = PAY if directed else calls(("order", '{"item": "tea"}'))
    async with at_work(tmp_path, [first], tools=[order], equipment=DIRECTED) as desk:
        await desk.told("Pay.")
        asked = (await desk.state()).custom
        assert asked is not None
        await append(desk, UserInterrupt())
        await desk.told()
        state = await desk.state()
        assert (state.custom, state.status) == (None, "idle")
        assert len(await desk.payloads(CallSettled)) == (0 if directed else 1)
        late = CustomToolResult(request_id=asked.id, tool_name=asked.name, output="too late")
        with pytest.raises(NotFitting):
            await append(desk, late)
