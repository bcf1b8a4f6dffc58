"""What a model of the managed profile is told when a run begins, and what others bring to it."""

import logging
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from agents_at_work import calls, home_of
from app.managed.managed_kit import (
    arguments,
    at_managed_work,
    define,
    kinds,
    make_report,
    managed_of,
    notes,
)
from run_replays import deploy, replays

from holdfast import Agent, Answer, Holdfast, ScriptedModel, answer_question
from holdfast.app.settings import ProfileSettings, Settings
from holdfast.contract.agents import Visibility
from holdfast.contract.chunks import Chunk, UserChunk
from holdfast.contract.events import Event, ModelRequested, OutcomeDefined, WantedOutcome
from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.managed.recalling import Recalled, Reminder
from holdfast.contract.managed_events import ContextMeasured, OutcomeEvaluated
from holdfast.contract.steps import Step
from holdfast.contract.wake_events import WakeQueued

pytestmark = pytest.mark.anyio

MADE = calls(("make_report", "{}"))


class Reminds:
    """Remembers what it was asked."""

    def __init__(self, found: Recalled) -> None:
        self.asked: list[tuple[str, ...]] = []
        self._found = found

    async def recalled(self, query: tuple[str, ...], /) -> Recalled:
        self.asked.append(query)
        return self._found


class Keeps:
    """A setup that changes each time, and a memory that is kept; or neither can be had."""

    def __init__(self, problem: Exception | None = None) -> None:
        self.refreshed = 0
        self._problem = problem

    async def describe_now(self) -> bool:
        self._fail()
        return True

    async def refresh(self) -> None:
        self._fail()
        self.refreshed += 1

    async def recalled(self, query: tuple[str, ...], /) -> Recalled:
        self._fail()
        return Recalled()

    def _fail(self) -> None:
        if self._problem is not None:
            raise self._problem


@pytest.mark.req("BOA-CTX-15", "BOA-REL-01")
async def test_where_a_session_stands_is_told_with_the_first_step_of_a_run_and_kept_nowhere_else(
    tmp_path: Path,
) -> None:
    turns = [MADE, "Well, that is that.", "Nothing more."]
    async with at_managed_work(tmp_path, turns, tools=[make_report]) as desk:
        await desk.told("Read notes.txt.")
        assert kinds(notes(desk, 0)) == ["outcome-repair", "read-first"]
        assert notes(desk, 1) == []
        told = arguments(notes(desk, 0)[1])
        assert told == {"path": str(tmp_path / "workspace" / "notes.txt")}
        await define(desk)
        await desk.told()
        assert kinds(notes(desk)) == ["promotion-gate"]
        requests = await desk.payloads(ModelRequested)
        assert [len(one.notices) for one in requests] == [2, 0, 1]
        assert not any("[outcome-repair]" in text for text in map(_text, desk.rows()))
        assert (await replays(desk)).wakes == 2
        session = desk.session.id
    turns = ["And again.", "And again."]
    async with at_managed_work(tmp_path, turns, tools=[make_report], session=session) as desk:
        await desk.told("Go on.")
        assert kinds(notes(desk)) == ["promotion-gate"]
        await desk.told("On.")
        said = [row.content for row in desk.rows() if isinstance(row, UserChunk)]
        assert said == [
            "Read notes.txt.",
            "[outcome wanted] A report\n- report.md is written",
            "Go on.",
            "On.",
        ]
        assert kinds(notes(desk)) == ["promotion-gate", "outcome-trend"]


def _text(row: Chunk) -> str:
    return str(getattr(row, "content", ""))


async def test_an_outcome_that_was_reached_closes_the_gate_no_more(tmp_path: Path) -> None:
    async with at_managed_work(
        tmp_path, [MADE, "It is there.", "Yes."], tools=[make_report]
    ) as desk:
        await define(desk)
        await desk.told("Go.")
        (record,) = [one.record for one in await desk.payloads(OutcomeEvaluated)]
        assert record.evaluation.status == "pass"
        await desk.told("Is it?")
        assert kinds(notes(desk)) == ["outcome-repair"]
        assert "status=done_candidate" in notes(desk)[0]
        assert arguments(notes(desk)[0]) == {"wake_id": record.wake_id}


async def test_every_note_leads_to_a_call_that_works_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "notes.txt").write_text("hello", "utf-8")
    async with at_managed_work(tmp_path, ["So."] * 3, tools=[make_report]) as desk:
        managed_of(desk).brought.setup = Keeps()
        await define(desk)
        for said in ("Hello.", "Go on.", "Read notes.txt."):
            await desk.told(said)
        lines = [line for number in range(3) for line in notes(desk, number)]
        assert {"promotion-gate", "outcome-trend", "setup-drift", "read-first"} == {*kinds(lines)}
        for line in lines:
            name = line.partition("next_tool=")[2].split()[0]
            envelope = await desk.holdfast.settle(name, arguments(line))
            assert envelope.failure is None, line


async def test_no_note_names_a_tool_that_is_not_there(tmp_path: Path) -> None:
    denied = Settings(
        profile={"managed": ProfileSettings(tools=Visibility(deny=("session_get_snapshot",)))}
    )
    async with at_managed_work(tmp_path, ["So."], settings=denied) as desk:
        await define(desk)
        await desk.told("Hello.")
        assert kinds(notes(desk)) == []


@pytest.mark.parametrize("equipment", [{"guidance": False}, {"tools_off": True}])
async def test_whoever_is_given_no_advice_is_told_nothing(
    tmp_path: Path, equipment: dict[str, Any]
) -> None:
    async with at_managed_work(tmp_path, ["So."], equipment=equipment) as desk:
        await define(desk)
        await desk.told("Read notes.txt.")
        assert notes(desk) == []
        assert len(await desk.payloads(OutcomeEvaluated)) == 1


async def test_what_was_answered_or_has_come_due_is_not_waited_for_any_more(tmp_path: Path) -> None:
    turns = [calls(("deploy", '{"place": "north"}')), "Deployed.", "And now?"]
    async with at_managed_work(tmp_path, turns, tools=[deploy]) as desk:
        await define(desk)
        await desk.told("Deploy.")
        (question,) = await desk.holdfast.questions()
        await answer_question(
            *(desk.session.id, question.approval_id, Answer(allowed=True, by="ada")),
            settings=Settings(),
            surroundings=desk.holdfast.parts.surroundings,
        )
        await desk.told()
        assert "outcome-repair" not in kinds(notes(desk))
        log = desk.holdfast.parts.log
        assert log is not None
        due = WakeQueued(queued_wake_id="wak_x", due_at=desk.holdfast.parts.clock.now(), reason="x")
        await log.append([due])
        await desk.told()
        assert len(desk.model.requests) == 3
        assert "outcome-repair" not in kinds(notes(desk))


@pytest.mark.req("BOA-RETR-07", "BOA-RETR-30")
async def test_what_may_help_is_looked_for_by_the_grade_and_the_verdict_of_the_moment(
    tmp_path: Path,
) -> None:
    step = Step(tool="session_get_snapshot", args={"session_id": "ses_2"}, rationale="Look.")
    found = tuple(Reminder(title=f"hit {number}", step=step) for number in range(5))
    reminds = Reminds(Recalled(candidates=found, plan=(step,)))
    async with at_managed_work(tmp_path, ["So.", "So so.", "So."], tools=[make_report]) as desk:
        managed_of(desk).brought.recall = reminds
        await define(desk)
        await desk.told("Write it.")
        assert kinds(notes(desk)).count("retrieval-candidate") == 3
        assert arguments(notes(desk)[-1]) == {"session_id": "ses_2"}
        await desk.told("On.")
        await desk.told("Now?")
        first, _, second = reminds.asked
        assert first[0] == "Write it."
        assert "A report; report.md is written" in first
        assert "in_progress; report.md is written" in second
        assert any(part.startswith("not_ready stable: It is under way") for part in second)
        assert second[-1] == "So so."


async def test_whoever_looks_for_too_long_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(Reminds):
        async def recalled(self, query: tuple[str, ...], /) -> Recalled:
            await anyio.sleep_forever()
            raise AssertionError

    monkeypatch.setattr("holdfast.runtime.managed.surveying.RECALL_SECONDS", 0.01)
    async with at_managed_work(tmp_path, ["So."]) as desk:
        managed_of(desk).brought.recall = Slow(Recalled())
        await desk.told("Hello.")
        assert kinds(notes(desk)) == ["outcome-repair"]


@pytest.mark.req("BOA-DIR-18")
async def test_what_was_learned_is_taken_into_the_memory_whenever_a_run_rests(
    tmp_path: Path,
) -> None:
    keeps = Keeps()
    async with at_managed_work(tmp_path, ["One.", "Two."]) as desk:
        managed_of(desk).brought.memory = keeps
        managed_of(desk).brought.setup = keeps
        await desk.told("Hello.")
        await desk.told("Again.")
        assert keeps.refreshed == 2
        assert "setup-drift" in kinds(notes(desk))


async def test_a_failure_around_a_run_is_told_in_the_log_and_fails_no_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Keeps(RuntimeError("the index is broken"))
    async with at_managed_work(tmp_path, [MADE, "Done."], tools=[make_report]) as desk:
        brought = managed_of(desk).brought
        brought.setup = brought.memory = brought.recall = broken
        await define(desk)
        with caplog.at_level(logging.ERROR, "holdfast"):
            await desk.told("Go.")
        assert desk.session.last is not None
        assert desk.session.last.ended == "final_response"
        assert kinds(notes(desk, 0)) == ["promotion-gate"]
        assert len(await desk.payloads(OutcomeEvaluated)) == 1
        said = [one.message for one in caplog.records]
        assert any("recalling failed" in one for one in said)
        assert any("keeping the memory failed" in one for one in said)
        caplog.clear()


async def test_a_journal_that_fails_around_a_run_fails_the_run(tmp_path: Path) -> None:
    async with at_managed_work(tmp_path, ["So."]) as desk:
        managed_of(desk).brought.setup = Keeps(JournalUnavailable("the store is gone"))
        await desk.session.send("Hello.")
        with pytest.raises(JournalUnavailable):
            await desk.session.wake()


async def test_a_secret_in_what_is_found_is_in_no_note(tmp_path: Path) -> None:
    step = Step(tool="session_get_snapshot", rationale="Look at hunter2hunter2.")
    reminds = Reminds(Recalled(sessions=(Reminder(title="hunter2hunter2", step=step),)))
    around = msgspec.structs.replace(home_of(tmp_path), secrets=("hunter2hunter2",))
    async with at_managed_work(tmp_path, ["So."], surroundings=around) as desk:
        managed_of(desk).brought.recall = reminds
        await define(desk, WantedOutcome(title="x"))
        await desk.told("Hello.")
        (line,) = [one for one in notes(desk) if one.startswith("[session-candidate]")]
        assert "hunter2" not in line


async def test_what_the_prompt_is_made_of_is_named_in_the_measure(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "AGENTS.md").write_text("Use tabs. " * 40, "utf-8")
    skill = tmp_path / "skills" / "sum" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: sum\ndescription: Sums up.\n---\nAdd.\n", "utf-8")
    agent = Agent(id="worker", instructions="Work.", skills=(str(tmp_path / "skills"),))
    options: dict[str, Any] = {"settings": Settings(), "surroundings": home_of(tmp_path)}
    async with Holdfast(
        profile="managed", workspace=workspace, agent=agent, application="elsewhere", **options
    ) as hf:
        session = await hf.new_session(model=ScriptedModel(["So."]))
        told = [one async for one in session.run("Hello.") if isinstance(one, Event)]
    (measured,) = [one.payload for one in told if isinstance(one.payload, ContextMeasured)]
    budget: Any = measured.budget
    sections = [one["name"] for one in budget["system_prompt"]["sections"]]
    assert sections == [
        *("manifest", "project_instructions", "standing", "skills", "environment"),
    ]
    assert [one["name"] for one in budget["bootstrap_files"]] == ["AGENTS.md"]
    assert budget["bootstrap_files"][0]["estimated_tokens"] > 90
    assert [one["name"] for one in budget["skills"]] == ["sum"]
    assert len(budget["tools"]) == 5


async def test_the_context_is_measured_when_a_run_rests_and_belongs_to_none(tmp_path: Path) -> None:
    async with at_managed_work(tmp_path, ["So.", "And so."]) as desk:
        managed = managed_of(desk)
        assert managed.crowding() is None
        await desk.told("Hello.")
        now = managed.crowding()
        assert now is not None
        assert now.pressure is not None
        assert now.pressure.level == "low"
        (event,) = [one for one in await desk.events() if isinstance(one.payload, ContextMeasured)]
        assert event.wake_id is None
        assert isinstance(event.payload, ContextMeasured)
        assert event.payload.budget["window_tokens"] == 128_000
        schemas: Any = event.payload.budget["estimated_tool_schema_tokens"]
        assert schemas > 500
        assert event.payload.pressure == {"level": "low", "reasons": [], "recommended_tools": []}
        await desk.told("Again.")
        more = managed.crowding()
        assert more is not None
        before: Any = now.budget["estimated_selected_text_tokens"]
        after: Any = more.budget["estimated_selected_text_tokens"]
        assert after > before
        assert OutcomeDefined not in {type(one.payload) for one in await desk.events()}
