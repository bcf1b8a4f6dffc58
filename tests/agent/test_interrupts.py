"""An interrupt before the next run: whatever was asked, scheduled or allowed has an end with it."""

from pathlib import Path
from typing import Any

import pytest
from agents_at_work import Desk, at_work, calls

from holdfast import tool
from holdfast.contract.events import (
    ApprovalAnswered,
    CallIntended,
    CallSettled,
    CustomToolResult,
    EventsProcessed,
    Payload,
    StatusIdle,
    ToolConfirmation,
    UserInterrupt,
    UserMessage,
)
from holdfast.contract.journal import NotFitting
from holdfast.contract.session_state import due_micros
from holdfast.contract.wake_events import WakesCompleted

pytestmark = pytest.mark.anyio

DIRECTED = {"directives": True}
LATER = (
    'Later. <holdfast-session-loop>{"outcome": "sleep", "queued_wakes": [{"reason": "look again",'
    ' "delay_seconds": 3600}]}</holdfast-session-loop>'
)
POEM = UserInterrupt(note="Write a poem instead.")
RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@tool(permission_policy="always_ask")
def deploy(place: str) -> str:
    """Deploy to a place."""
    RAN.append(place)
    return f"deployed to {place}"


@tool(ownership="custom")
def order(item: str) -> str:
    """Order something; the application does it."""
    raise AssertionError("the application does it")


ASKED = {"confirmation": ("deploy", '{"place": "north"}'), "custom": ("order", '{"item": "tea"}')}


async def append(desk: Desk, *payloads: Payload) -> None:
    log = desk.holdfast.parts.log
    assert log is not None
    await (await log.journal()).append(desk.session.id, payloads)


async def answer_to(desk: Desk, kind: str) -> Payload:
    """What somebody says to what waits: yes, or here it is."""
    if kind == "custom":
        asked = (await desk.state()).custom
        assert asked is not None
        return CustomToolResult(request_id=asked.id, tool_name="order", output="ordered")
    (question,) = await desk.holdfast.questions()
    if kind == "confirmed":
        return ToolConfirmation(request_id=question.approval_id, tool_name="deploy", allowed=True)
    return ApprovalAnswered(
        approval_id=question.approval_id, call_id=question.call_id, allowed=True, by="ada"
    )


async def blocked(desk: Desk, kind: str) -> None:
    """A session with a wake to come, that waits for somebody."""
    await desk.told("Look later.")
    await desk.told("And now this.")
    state = await desk.state()
    assert state.status == "requires_action"
    assert len(state.wakes) == 1
    assert (state.confirmation is not None, state.custom is not None) == (
        kind == "confirmation",
        kind == "custom",
    )


def desk_with(folder: Path, kind: str, *last: Any) -> Any:
    turns = [LATER, calls(ASKED[kind]), *last]
    return at_work(folder, turns, tools=[deploy, order], equipment=DIRECTED)


@pytest.mark.req("BOA-INT-01", "BOA-INT-02", "BOA-INT-03")
@pytest.mark.parametrize("kind", ["confirmation", "custom"])
@pytest.mark.parametrize("note", ["Write a poem instead.", None])
async def test_an_interrupt_ends_what_waits_and_what_was_to_come(
    tmp_path: Path, kind: str, note: str | None
) -> None:
    async with desk_with(tmp_path, kind, "A poem.") as desk:
        await blocked(desk, kind)
        (wake,) = (await desk.state()).wakes
        await append(desk, UserInterrupt(note=note))
        await desk.told()
        state = await desk.state()
        assert (state.status, state.stop_reason) == ("idle", "idle")
        assert (state.confirmation, state.custom, state.pending, state.calls) == (
            *(None, None),
            *((), {}),
        )
        assert (state.wakes, due_micros(state)) == ((), None)
        cancelled = [one for one in await desk.payloads(WakesCompleted) if one.cancelled]
        assert [one.queued_wake_ids for one in cancelled] == [(wake.id,)]
        said = "User interrupted prior blocked or scheduled work"
        told = [one.summary for one in await desk.payloads(StatusIdle)]
        assert (said if note is None else f"{said}: {note}") in told
        assert desk.session.last is not None
        assert desk.session.last.ended == ("cancelled" if note is None else "final_response")
        assert len(desk.model.requests) == (2 if note is None else 3)
        assert note is None or desk.rows()[-1].content == note
        assert RAN == []


@pytest.mark.req("BOA-INT-05")
@pytest.mark.parametrize("kind", ["confirmation", "custom"])
async def test_an_interrupt_beats_an_answer_that_came_before_it(tmp_path: Path, kind: str) -> None:
    async with desk_with(tmp_path, kind, "A poem.") as desk:
        await blocked(desk, kind)
        await append(desk, await answer_to(desk, kind))
        await append(desk, UserMessage(message="Be quick."))
        await append(desk, POEM)
        waited = (await desk.state()).pending
        assert len(waited) >= 2
        await desk.told()
        assert RAN == []
        begun = [one.tool for one in await desk.payloads(CallIntended)]
        assert begun == ([] if kind == "confirmation" else ["order"]), "the application had it"
        (settled,) = await desk.payloads(CallSettled)
        assert b'"user_denied"' in bytes(settled.envelope)
        processed = {name for one in await desk.payloads(EventsProcessed) for name in one.event_ids}
        assert {*waited} <= processed
        assert (await desk.state()).pending == ()
        assert desk.rows()[-1].content == POEM.note


@pytest.mark.req("BOA-INT-05")
@pytest.mark.parametrize("kind", ["confirmation", "confirmed", "custom"])
@pytest.mark.parametrize("note", [POEM.note, None])
async def test_an_answer_behind_an_interrupt_counts_for_nothing(
    tmp_path: Path, kind: str, note: str | None
) -> None:
    """It is nothing to go on with either."""
    waits = "custom" if kind == "custom" else "confirmation"
    async with desk_with(tmp_path, waits, "A poem.") as desk:
        await blocked(desk, waits)
        late = await answer_to(desk, kind)
        await append(desk, UserInterrupt(note=note))
        await append(desk, late)
        await desk.told()
        assert RAN == []
        (settled,) = await desk.payloads(CallSettled)
        assert b'"user_denied"' in bytes(settled.envelope)
        state = await desk.state()
        assert (state.pending, state.wakes) == ((), ())
        assert desk.session.last is not None
        assert desk.session.last.ended == ("cancelled" if note is None else "final_response")
        assert len(desk.model.requests) == (2 if note is None else 3)
        with pytest.raises(NotFitting):
            await append(desk, late)
