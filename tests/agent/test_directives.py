"""How an agent goes on by itself: by what it says at the end of a run, and by nothing else."""

from pathlib import Path
from typing import Any

import pytest
from agents_at_work import at_work, calls

from holdfast import Holdfast, tool
from holdfast.app.profiles import PROFILES
from holdfast.app.settings import Settings
from holdfast.contract.chunks import UserChunk
from holdfast.contract.events import AgentMessage, CustomToolUse, StatusIdle
from holdfast.contract.wake_events import DirectiveTaken, LearningCaptured, WakeQueued
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio

SOURCE = Path(__file__).parents[2] / "src" / "holdfast"
DIRECTED = {"directives": True}


@tool(read_only=True, inline=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def ending(**fields: Any) -> Any:
    """Last words with a directive."""
    written = "".join(f'"{name}": {value}, ' for name, value in fields.items())
    block = "{" + written.removesuffix(", ") + "}"
    return f"Done. <holdfast-session-loop>{block}</holdfast-session-loop>"


LATER = '[{"reason": "look at the build", "delay_seconds": 60, "note": "The blue one."}]'


@pytest.mark.req("BOA-DIR-05", "BOA-BND-01", "BOA-BND-04")
async def test_a_wake_that_was_asked_for_runs_the_session_when_it_is_due(tmp_path: Path) -> None:
    clock = FakeClock()
    turns = [ending(queued_wakes=LATER), "The build is green."]
    async with at_work(tmp_path, turns, clock=clock, equipment=DIRECTED) as desk:
        await desk.told("Build it.")
        (wake,) = (await desk.state()).wakes
        assert (wake.reason, wake.note) == ("look at the build", "The blue one.")
        assert desk.session.last is not None
        assert desk.session.last.stop_reason == "rescheduling"
        assert (await desk.session.wake()).executed is False
        clock.advance(60)
        await desk.told()
        assert desk.rows()[-1] == UserChunk("[wake due] look at the build\nThe blue one.")
        assert desk.session.last.response == "The build is green."
        assert (await desk.state()).wakes == ()


async def test_what_is_hidden_stays_hidden_when_a_session_is_woken(tmp_path: Path) -> None:
    clock = FakeClock()
    async with at_work(
        tmp_path, [ending(queued_wakes=LATER), "Green."], clock=clock, equipment=DIRECTED
    ) as desk:
        await desk.told("Build it.")
        clock.advance(60)
        await desk.told()
        assert [one.message for one in await desk.payloads(AgentMessage)] == ["Done.", "Green."]
        shown = [one.summary for one in await desk.payloads(StatusIdle)]
        assert all("holdfast-session-loop" not in one for one in shown)


@pytest.mark.req("BOA-DIR-12", "BOA-DIR-13")
async def test_an_agent_goes_on_three_times_in_a_row_and_then_sleeps(tmp_path: Path) -> None:
    clock = FakeClock()
    on = ending(outcome='"continue"', follow_up_seconds=10)
    async with at_work(tmp_path, [on] * 4, clock=clock, equipment=DIRECTED) as desk:
        for number in range(4):
            await desk.told(None if number else "Go.")
            state = await desk.state()
            if number < 3:
                (wake,) = state.wakes
                assert wake.reason == "session.follow_up"
                assert wake.dedupe_key == f"follow-up:{desk.session.id}"
            clock.advance(11)
        assert (await desk.state()).wakes == ()
        outcomes = [
            (one.outcome, one.enforced_by_runtime) for one in await desk.payloads(DirectiveTaken)
        ]
        assert outcomes == [("continue", False)] * 3 + [("sleep", True)]
        assert (await desk.session.wake()).executed is False


@pytest.mark.req("BOA-DIR-15")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "idle"),
        ({"queued_wakes": LATER}, "rescheduling"),
        ({"outcome": '"continue"'}, "rescheduling"),
        ({"queued_wakes": LATER, "custom_tool_request": '{"name": "pay"}'}, "requires_action"),
    ],
)
async def test_why_a_wake_stops(tmp_path: Path, fields: dict[str, str], reason: str) -> None:
    async with at_work(tmp_path, [ending(**fields)], equipment=DIRECTED) as desk:
        await desk.told("Go.")
        assert desk.session.last is not None
        assert desk.session.last.stop_reason == reason
        assert (await desk.state()).stop_reason == reason


@pytest.mark.req("BOA-EVT-15")
async def test_a_request_for_a_custom_tool_stands_in_place_of_last_words(tmp_path: Path) -> None:
    asked = ending(custom_tool_request='{"name": "pay", "input": {"n": 1}}')
    async with at_work(tmp_path, [asked], equipment=DIRECTED) as desk:
        kinds = await desk.told("Pay.")
        (used,) = await desk.payloads(CustomToolUse)
        assert (used.tool_name, used.input) == ("pay", {"n": 1})
        request = (await desk.state()).custom
        assert request is not None
        assert request.id == used.request_id
        assert "agent.message" not in kinds


@pytest.mark.req("BOA-DIR-09", "BOA-DIR-17")
async def test_what_was_learned_is_captured_once(tmp_path: Path) -> None:
    first = ending(
        learnings='[{"title": "Builds", "detail": "They take a minute.", "kind": "correction"},'
        ' {"title": "BUILDS", "detail": "they take a MINUTE.", "kind": "correction"},'
        ' {"title": "Other", "detail": "x", "dedupe_key": "k"}]'
    )
    second = ending(
        learnings='[{"title": "builds", "detail": "They take a minute.", "kind": "correction"},'
        ' {"title": "Quite new", "detail": "y", "dedupe_key": "k"},'
        ' {"title": "Tests", "detail": "They take two."}]'
    )
    async with at_work(tmp_path, [first, second], equipment=DIRECTED) as desk:
        await desk.told("Go.")
        await desk.told("Again.")
        captured = await desk.payloads(LearningCaptured)
        assert [(one.title, one.learning_kind) for one in captured] == [
            ("Builds", "correction"),
            ("Other", "lesson"),
            ("Tests", "lesson"),
        ]


@pytest.mark.req("BOA-BND-03")
async def test_no_tool_queues_a_wake(tmp_path: Path) -> None:
    for profile in PROFILES:
        opened = Holdfast(profile=profile, workspace=tmp_path, settings=Settings())
        names = [one.name for one in opened.parts.catalog]
        assert names
        assert not [name for name in names if name.startswith("proactive") or "wake" in name]
    queued_by = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if "WakeQueued(" in path.read_text("utf-8") and path.parent.name != "testing"
    }
    # Of these, `app/ingress` is for people and programs, and a child's rest is told by the loop;
    # tools see nothing but `contract`.
    assert queued_by == {
        *("agent/endings.py", "agent/telling_above.py"),
        *("app/ingress.py", "contract/wake_events.py"),
    }
    asked = calls(("add", '{"a": 1, "b": 2}'), ("todo", '{"todos": []}'))
    async with at_work(tmp_path, [asked, "3"], tools=[add], equipment=DIRECTED) as desk:
        await desk.told("Go.")
        assert await desk.payloads(WakeQueued) == []
        assert (await desk.state()).wakes == ()
