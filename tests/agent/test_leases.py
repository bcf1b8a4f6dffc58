"""The right to run an agent's session: renewed while a run goes on, and a run without it stops."""

from pathlib import Path

import anyio
import pytest
from agents_at_work import Desk, at_work, calls

from holdfast import tool
from holdfast.app import run_watch
from holdfast.app.agent_settings import EngineSettings
from holdfast.app.settings import Settings
from holdfast.contract.agents import Agent
from holdfast.contract.events import UserMessage
from holdfast.contract.journal import Lease, StaleEpoch
from holdfast.testing.fakes import FakeClock

CODER = Agent(id="coder")
LOOKS: list[tuple[Desk, list[Lease]]] = []


async def lease_of(desk: Desk) -> Lease:
    log = desk.holdfast.parts.log
    assert log is not None
    held = (await (await log.journal()).session(desk.session.id)).lease
    assert held is not None
    return held


@tool
async def work() -> str:
    """Work until the lease was renewed twice."""
    desk, found = LOOKS[-1]
    found.append(await lease_of(desk))
    while len(found) < 3:
        await anyio.sleep(0.01)
        now = await lease_of(desk)
        if now.until_micros > found[-1].until_micros:
            found.append(now)
    return "done"


def paced(lease_seconds: float, heartbeat_seconds: float) -> Settings:
    engine = EngineSettings(lease_seconds=lease_seconds, heartbeat_seconds=heartbeat_seconds)
    return Settings(engine=engine)


@pytest.mark.req("BOA-WAKE-05")
async def test_a_run_holds_a_lease_that_ends_and_is_renewed_while_it_goes_on(
    tmp_path: Path,
) -> None:
    assert (EngineSettings().lease_seconds, EngineSettings().heartbeat_seconds) == (15, 5)
    turns = [calls(("work", "{}")), "done"]
    settings = paced(20, 0.02)
    async with at_work(tmp_path, turns, settings=settings, tools=[work], agent=CODER) as desk:
        found: list[Lease] = []
        LOOKS.append((desk, found))
        clock = desk.holdfast.parts.clock
        before = clock.unix_ns() // 1000
        await desk.told("Work.")
        after = clock.unix_ns() // 1000
        assert len({one.epoch for one in found}) == 1
        assert found[0].until_micros < found[1].until_micros < found[2].until_micros
        assert all(before + 20e6 <= one.until_micros <= after + 20e6 for one in found)
        assert desk.session.last is not None
        assert desk.session.last.ended == "final_response"


async def test_by_default_an_agents_session_is_held_for_15_seconds(tmp_path: Path) -> None:
    async with at_work(tmp_path, ["done"], agent=CODER) as desk:
        before = desk.holdfast.parts.clock.unix_ns() // 1000
        await desk.told("Say something.")
        assert 15e6 <= (await lease_of(desk)).until_micros - before < 60e6


async def test_a_run_that_has_lost_its_lease_stops(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_watch, "STOP_SECONDS", 0.05)

    @tool
    async def lose() -> str:
        """Lose the lease, and wait to be stopped."""
        log = desk.holdfast.parts.log
        assert log is not None
        await (await log.journal()).take_over(await lease_of(desk), "another", 60)
        await anyio.sleep_forever()
        return "never"

    turns = [calls(("lose", "{}")), "never"]
    settings = paced(20, 0.02)
    async with at_work(tmp_path, turns, settings=settings, tools=[lose], agent=CODER) as desk:
        await desk.session.send("Go.")
        with anyio.fail_after(8), pytest.raises(StaleEpoch):
            await desk.session.wake()
        assert len(desk.model.requests) == 1
        assert any("is stopped: the lease of session" in one.message for one in caplog.records)


async def test_a_session_that_another_ran_while_it_was_idle_goes_on_from_there(
    tmp_path: Path,
) -> None:
    clock = FakeClock()
    async with at_work(tmp_path, ["one", "two"], clock=clock, agent=CODER) as desk:
        await desk.told("Say something.")
        log = desk.holdfast.parts.log
        assert log is not None
        journal = await log.journal()
        clock.advance(EngineSettings().lease_seconds + 1)  # nobody renews it between two runs
        other = await journal.lease(desk.session.id, "another", 60)
        await journal.append(desk.session.id, [UserMessage(message="of another")])
        await journal.release(other)
        await desk.told("And again.")
        assert desk.session.last is not None
        assert desk.session.last.response == "two"
        assert "of another" in str(desk.model.requests[-1].rows)
