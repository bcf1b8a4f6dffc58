"""What a replay of a run may not do, and what it may not overlook."""

import socket
import subprocess
import sys
from contextlib import nullcontext
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from agents_at_work import at_work, calls
from run_replays import all_events, first_of, look, with_payload

from holdfast import tool
from holdfast.app.run_replaying import replay_run
from holdfast.app.run_stage import PlayedModel
from holdfast.contract.events import (
    ChildCreated,
    ChildIdle,
    CustomToolResult,
    Event,
    SpanStarted,
    StatusChanged,
    UserMessage,
)
from holdfast.contract.journal import Session
from holdfast.contract.model import Heard, ModelError, ModelReply, ModelRequest
from holdfast.contract.wake_events import WakeDeferred, WakeQueued
from holdfast.execution.no_effects import EffectRefused
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio

LATER = (
    'Later. <holdfast-session-loop>{"outcome": "sleep", "queued_wakes": [{"reason": "look",'
    ' "delay_seconds": 3600}]}</holdfast-session-loop>'
)


def start() -> None:
    subprocess.run([sys.executable, "-c", ""], check=True)


def connect() -> None:
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())


async def test_a_replay_starts_nothing_and_reaches_nobody_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = [calls(("look", '{"place": "north"}')), "fine"]
    async with at_work(tmp_path, turns, tools=[look]) as desk:
        await desk.told("Look.")
        events = await all_events(desk)
    usual = PlayedModel.complete
    tried: list[str] = []

    async def acting(
        model: PlayedModel, request: ModelRequest, heard: Heard | None = None, /
    ) -> ModelReply:
        for act in (start, connect):
            try:
                act()
                tried.append("done")
            except EffectRefused:
                tried.append("refused")
        return await usual(model, request, heard)

    monkeypatch.setattr(PlayedModel, "complete", acting)
    assert (await replay_run(events)).divergence is None
    assert tried == ["refused"] * 4
    start()
    connect()


@pytest.mark.parametrize("seconds", [-3600, -1, 1, 3600])
async def test_a_wake_that_was_queued_for_another_time_is_named(
    tmp_path: Path, seconds: int
) -> None:
    """The clock of the recording stood still: nothing can have been a little later."""
    equipment = {"directives": True}
    async with at_work(tmp_path, [LATER], clock=FakeClock(), equipment=equipment) as desk:
        await desk.told("Go.")
        events = await all_events(desk)
    await _named(events, first_of(events, WakeQueued), "due_at", seconds)


@pytest.mark.parametrize("seconds", [-3600, -1, 1, 3600])
async def test_a_session_that_was_left_alone_for_another_time_is_named(
    tmp_path: Path, seconds: int
) -> None:
    wrong = ModelError("authentication", "the key is refused")
    async with at_work(tmp_path, [wrong], clock=FakeClock()) as desk:
        await desk.told("Go.")
        events = await all_events(desk)
    await _named(events, first_of(events, WakeDeferred), "until", seconds)


async def _named(events: tuple[Event, ...], queued: Event, field: str, seconds: int) -> None:
    moment = getattr(queued.payload, field) + timedelta(seconds=seconds)
    changed = msgspec.structs.replace(queued.payload, **{field: moment})
    found = (await replay_run(with_payload(events, queued.sequence, changed))).divergence
    assert found is not None
    assert (found.sequence, found.field) == (queued.sequence, f"$.{field}")


@pytest.mark.parametrize("named", [True, False])
async def test_what_is_written_in_the_name_of_a_run_that_is_over_is_named(
    tmp_path: Path, named: bool
) -> None:
    """Otherwise it is what others write any time, and nothing else would show it."""
    over = pytest.raises(AssertionError, match="the run ends before it")
    with over if named else nullcontext():  # whatever a desk has recorded is replayed in the end
        async with at_work(tmp_path, ["one", "two"]) as desk:
            await desk.told("First.")
            run = next(one.wake_id for one in await all_events(desk) if one.wake_id is not None)
            log = desk.holdfast.parts.log
            assert log is not None
            journal = await log.journal()
            begun = ChildCreated(child_session_id="ses_child", message="work")
            rested = ChildIdle(
                child_session_id="ses_child",
                child_stop_reason="idle",
                summary="done",
                executed_cycles=1,
            )
            await journal.append(desk.session.id, [begun, rested], wake_id=run if named else None)
            await desk.told("Second.")


class Ticking(FakeClock):
    """A clock of which every look takes a moment."""

    def now(self) -> datetime:
        self.advance(0.001)
        return super().now()

    def unix_ns(self) -> int:
        self.advance(0.001)
        return super().unix_ns()


async def test_a_word_that_came_while_a_run_began_does_not_change_when_its_wakes_are_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is due is counted from what was written down, not from a look at the clock before."""
    equipment = {"directives": True}
    async with at_work(tmp_path, [LATER, "fine"], clock=Ticking(), equipment=equipment) as desk:
        await desk.session.send("Go.")
        log = desk.holdfast.parts.log
        assert log is not None
        journal = await log.journal()
        look = journal.session

        async def spoken_to(session_id: str, /) -> Session:
            found = await look(session_id)
            monkeypatch.setattr(journal, "session", look)
            await journal.append(session_id, [UserMessage(message="And another thing.")])
            return found

        monkeypatch.setattr(journal, "session", spoken_to)
        await desk.told()
        (queued,) = await desk.payloads(WakeQueued)
        began = next(
            one
            for one in await desk.events()
            if isinstance(one.payload, SpanStarted) and one.payload.span_kind == "wake"
        )
        assert queued.due_at == began.at + timedelta(seconds=3600)


@tool(ownership="custom")
def order(item: str) -> str:
    """Order something; the application does it."""
    raise AssertionError(item)


async def test_an_answer_that_came_while_a_run_began_is_seen_by_all_of_it_or_by_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = [calls(("order", '{"item": "tea"}')), "It comes."]
    async with at_work(tmp_path, turns, tools=[order]) as desk:
        await desk.told("Order tea.")
        wanted = (await desk.state()).custom
        assert wanted is not None
        log = desk.holdfast.parts.log
        assert log is not None
        journal = await log.journal()
        look = journal.session
        given = CustomToolResult(request_id=wanted.id, tool_name="order", output="ordered")

        async def answered(session_id: str, /) -> Session:
            found = await look(session_id)
            monkeypatch.setattr(journal, "session", look)
            await journal.append(session_id, [given])
            return found

        monkeypatch.setattr(journal, "session", answered)
        await desk.told()
        assert desk.session.last is not None
        assert desk.session.last.response == "It comes."
        began = [one for one in await desk.payloads(StatusChanged) if one.to_status == "running"]
        assert (began[-1].reason, began[-1].from_status) == ("a person answered", "rescheduling")
