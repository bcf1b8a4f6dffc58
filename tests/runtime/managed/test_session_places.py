"""Where sessions are shown, how crowded they are, and of which nothing is told."""

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from runtime.managed.grounds import ME, Given, Place, placed
from session_stories import ASKS_OUTSIDE, Story, tell

from holdfast.contract.errors import PolicyDenied, Unavailable
from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.json_value import encode_json
from holdfast.contract.managed.artifact_names import ARTIFACTS
from holdfast.contract.managed.crowding import Crowding, Pressure
from holdfast.contract.managed.sessions import SessionFilter, SessionSummary
from holdfast.contract.managed_events import ContextMeasured
from holdfast.runtime.managed.reading import reading

pytestmark = pytest.mark.anyio

ANY = SessionFilter(limit=50)
SHOWN = {
    *("event_feed", "wake_traces", "managed_tools", "skills", "vaults", "environment"),
    *("permissions", "context_budget", "outcome", "outcome_grade", "outcome_evaluation"),
    *("session_status", "shell_state", "shell_history", "shell_last_output"),
}


def named(sessions: tuple[SessionSummary, ...]) -> list[str]:
    return [one.session_id for one in sessions]


async def seen(place: Place, session_id: str | None = None) -> SessionSummary:
    return await place.book.snapshot(session_id)


async def test_artifacts_are_told_by_name_where_each_session_has_its_own(tmp_path: Path) -> None:
    own, theirs = tmp_path / "mine", tmp_path / "theirs"
    folder = own / ".holdfast-runtime" / ME
    async with placed(Given(artifacts=folder)) as place:
        for name, where in ((ME, own), ("ses_other", theirs)):
            made = SessionCreated(agent_id="looker", workspace=str(where))
            await place.journal.create(name, [made])
        await tell(place.journal, "ses_nowhere", Story())
        mine, other = await seen(place), await seen(place, "ses_other")
        assert set(mine.artifact_paths) >= SHOWN
        assert set(mine.artifact_paths) == set(ARTIFACTS) - {"staged_substrate", "outcome_repair"}
        assert mine.artifact_paths["event_feed"] == (
            str(folder / "event-feed.json"),
            str(folder / "event-feed.md"),
        )
        there = theirs / ".holdfast-runtime" / "ses_other"
        assert other.artifact_paths["vaults"] == (str(there / "vaults.json"),)
        assert (await seen(place, "ses_nowhere")).artifact_paths == {}
        listed = {one.session_id: one for one in (await place.book.sessions(ANY)).sessions}
        assert listed["ses_other"].artifact_paths == {
            "session_status": (str(there / "session-status.json"),)
        }
        context = await place.book.context("ses_other")
        assert context.artifact_paths == (
            str(there / "context-budget.json"),
            str(there / "context-budget.md"),
        )
    async with placed(Given(artifacts=tmp_path / "elsewhere")) as place:
        for name, where in ((ME, own), ("ses_other", theirs)):
            made = SessionCreated(agent_id="looker", workspace=str(where))
            await place.journal.create(name, [made])
        assert (await seen(place, "ses_other")).artifact_paths == {}


@pytest.mark.req("BOA-SESS-28")
async def test_how_crowded_it_is_now_or_was_when_another_rested() -> None:
    pressure = Pressure(
        level="high", reasons=("low_headroom:12",), recommended_tools=("retrieval_search",)
    )
    now: list[Crowding | None] = [None]
    async with placed(Given(crowding=lambda: now[-1])) as place:
        for name in (ME, "ses_other"):
            await tell(place.journal, name, Story())
            empty = await place.book.context(name)
            assert (empty.available, empty.context_budget, empty.pressure) == (False, None, None)
            assert empty.reason
            told = msgspec.to_builtins(pressure)
            for budget in ({"window": 1}, {"window": 2}):
                measured = ContextMeasured(budget={**budget}, pressure=told)
                await place.journal.append(name, [measured])
            rested = await place.book.context(name)
            assert (rested.session_id, rested.available, rested.reason) == (name, True, None)
            assert (rested.context_budget, rested.pressure) == ({"window": 2}, pressure)
        now.append(Crowding(budget={"window": 3}))
        own = await place.book.context(None)
        assert (own.context_budget, own.pressure) == ({"window": 3}, None)
        assert (await place.book.context("ses_other")).context_budget == {"window": 2}


@pytest.mark.req("BOA-ARG-06")
async def test_nothing_is_told_of_a_session_of_another_agent() -> None:
    async with placed() as place:
        await tell(place.journal, ME, Story())
        await tell(place.journal, "ses_theirs", Story(agent="other", parent=ME, waits=True))
        for name in ("ses_theirs", "ses_none"):
            said = f"Session {name} is not available to agent looker"
            for asked in (place.book.snapshot, place.book.context):
                with pytest.raises(PolicyDenied) as refused:
                    await asked(name)
                assert str(refused.value) == said
            with pytest.raises(PolicyDenied):
                await place.book.children(name, ANY)
            with pytest.raises(PolicyDenied):
                await place.events.traces(name, 5)
        assert named((await place.book.sessions(ANY)).sessions) == [ME]
        assert (await place.book.children(None, ANY)).count == 0
        assert (await seen(place)).child_count == 0


async def test_whoever_is_nobodys_is_the_usual_agents() -> None:
    async with placed(Given(agent_id="default")) as place:
        await tell(place.journal, ME, Story(agent="default"))
        await tell(place.journal, "ses_nobodys", Story(agent=None, parent=ME))
        assert sorted(named((await place.book.sessions(ANY)).sessions)) == [ME, "ses_nobodys"]
        assert (await seen(place)).child_count == 1
        assert (await seen(place, "ses_nobodys")).agent_id == "default"


async def test_sessions_that_were_not_active_are_left_out() -> None:
    async with placed() as place:
        await tell(place.journal, ME, Story())
        await tell(place.journal, "ses_old", Story(setup="s", wake="wak_1"))
        place.clock.advance(timedelta(minutes=10).total_seconds())
        await tell(place.journal, "ses_new", Story(setup="s", wake="wak_1"))
        await place.journal.append("ses_old", [UserMessage(message="since its last run")])
        recent = await place.book.sessions(SessionFilter(active_minutes=5))
        assert "ses_old" not in named(recent.sessions)
        assert "ses_new" in named(recent.sessions)


def test_a_store_that_cannot_be_read_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="cannot be read: the disk is gone"), reading():
        raise JournalUnavailable("the disk is gone")


async def test_a_summary_is_small_however_much_waits() -> None:
    async with placed() as place:
        await tell(place.journal, ME, Story(setup="same"))
        large = msgspec.structs.replace(ASKS_OUTSIDE, input={"text": "x" * 50_000})
        await place.journal.append(ME, [large])
        assert len(encode_json(msgspec.to_builtins(await seen(place)))) < 6000
