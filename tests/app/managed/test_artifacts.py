"""What a session shows to its own hand: when it is written, what it says, that nobody heeds it."""

import json
import logging
from pathlib import Path
from typing import Any

import msgspec
import pytest
from agents_at_work import at_work, calls, home_of
from app.managed.managed_kit import (
    REPORT,
    at_managed_work,
    define,
    make_report,
    managed_of,
    notes,
    read_json,
    say,
    shown,
)
from run_replays import deploy, look, replays

from holdfast import Agent, Answer, Holdfast, tool
from holdfast.app.settings import Settings
from holdfast.contract.events import ApprovalAnswered, ApprovalAsked, ChildCreated
from holdfast.contract.json_value import JsonObject
from holdfast.contract.managed.artifact_names import ARTIFACTS
from holdfast.contract.managed_events import (
    ContextMeasured,
    ResourcePromoted,
    ResourceStaged,
    ShellChanged,
)
from holdfast.contract.runtime import Runtime

pytestmark = pytest.mark.anyio

MADE = calls(("make_report", "{}"))


@pytest.mark.req("BOA-ART-23", "BOA-ART-01")
async def test_after_the_first_run_every_file_is_there_and_can_be_read(tmp_path: Path) -> None:
    async with at_managed_work(tmp_path, ["So."], alone=False) as desk:
        assert not (tmp_path / "workspace" / ".holdfast-runtime").exists()
        await desk.told("Hello.")
        folder = tmp_path / "workspace" / ".holdfast-runtime" / desk.session.id
        assert shown(desk) == folder.resolve()
        for name in (name for names in ARTIFACTS.values() for name in names):
            text = (folder / name).read_text("utf-8")
            if name.endswith(".json"):
                assert isinstance(json.loads(text), dict), name
            else:
                assert text.startswith("# "), name
        made = {one.name for one in folder.iterdir()}
        assert made == {name for names in ARTIFACTS.values() for name in names}


@pytest.mark.req("BOA-ART-02", "BOA-ART-03", "BOA-ART-04", "BOA-ART-06", "BOA-ART-07", "BOA-ART-08")
async def test_what_a_run_begins_with_is_shown_before_its_first_step(tmp_path: Path) -> None:
    found: dict[str, Any] = {}

    @tool(effects=["session_read"])
    async def peek(rt: Runtime) -> str:
        """Look at what is shown."""
        for file in shown(desk).iterdir():
            found[file.name] = file.read_text("utf-8")
        return rt.tool

    tools = [peek, deploy, make_report]
    skill = tmp_path / "skills" / "sum" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: sum\ndescription: Sums up.\n---\nAdd.\n", "utf-8")
    agent = Agent(id="worker", skills=(str(tmp_path / "skills"),))
    turns = [calls(("peek", "{}")), "So."]
    async with at_managed_work(tmp_path, turns, tools=tools, agent=agent) as desk:
        await desk.told("Look.")
        listed = json.loads(found["managed-tools.json"])
        rows = {one["name"]: one for one in listed["tools"]}
        assert listed["count"] == len(rows) == len(desk.holdfast.tools)
        assert rows["deploy"] == {
            "name": "deploy",
            "ownership": "managed",
            "permission_policy": "always_ask",
            "effects": [],
            "read_only": True,
            "destructive": False,
            "interrupt_behavior": "block",
        }
        assert rows["make_report"]["effects"] == ["sandbox_execute"]
        policies = json.loads(found["permissions.json"])
        assert "deploy" in policies["always_ask_tools"]
        assert "deploy" not in policies["always_allow_tools"]
        assert {*policies["always_ask_tools"], *policies["always_allow_tools"]} == {*rows}
        assert "deploy" in found["permissions.md"]
        assert json.loads(found["environment.json"])["id"] == "local-default"
        assert json.loads(found["agent-setup.json"])["session_id"] == desk.session.id
        assert "agent-setup.md" in found
        told = {"name": "sum", "description": "Sums up.", "source": str(skill)}
        assert json.loads(found["skills.json"]) == {"count": 1, "skills": [told]}
        assert json.loads(found["vaults.json"]) == {"count": 0, "vaults": []}
        assert json.loads(found["session-runtime.json"])["session_id"] == desk.session.id
        assert "outcome-grade.json" not in found


@pytest.mark.req("BOA-ART-07", "BOA-ART-06")
async def test_whoever_knows_more_says_what_an_artifact_tells(tmp_path: Path) -> None:
    async def described() -> JsonObject:
        return {"fingerprint": "f00"}

    async with at_managed_work(tmp_path, ["So."]) as desk:
        shows = managed_of(desk).brought.shows
        shows |= {"agent_setup": described, "environment": described}
        await desk.told("Hello.")
        assert read_json(desk, "agent-setup.json") == {"fingerprint": "f00"}
        assert read_json(desk, "environment.json") == {"fingerprint": "f00"}
        assert "f00" in (shown(desk) / "agent-setup.md").read_text("utf-8")


@pytest.mark.req("BOA-ART-09", "BOA-CTX-02")
async def test_the_context_is_shown_once_it_is_assembled_and_when_the_run_rests(
    tmp_path: Path,
) -> None:
    seen: list[Any] = []

    @tool
    async def peek() -> str:
        """Look at the budget."""
        await managed_of(desk).caught_up()
        seen.append(read_json(desk, "context-budget.json"))
        return "x" * 4_000

    async with at_managed_work(tmp_path, [calls(("peek", "{}")), "So."], tools=[peek]) as desk:
        await desk.told("Look.")
        (during,), after = seen, read_json(desk, "context-budget.json")
        assert during["session_id"] == desk.session.id
        assert during["available"] is True
        (measured,) = await desk.payloads(ContextMeasured)
        assert after["context_budget"] == measured.budget
        selected = "estimated_selected_text_tokens"
        assert after["context_budget"][selected] > during["context_budget"][selected] + 900
        assert after["pressure"]["level"] == "low"
        text = (shown(desk) / "context-budget.md").read_text("utf-8")
        assert f"**{selected}**: {after['context_budget'][selected]}" in text


@pytest.mark.req("BOA-ART-10", "BOA-ART-11", "BOA-ART-12", "BOA-ART-13")
@pytest.mark.req("BOA-GRADE-12", "BOA-EVAL-14", "BOA-EVAL-17")
async def test_how_far_the_outcome_is_is_shown_when_a_run_rests(tmp_path: Path) -> None:
    async with at_managed_work(tmp_path, ["No.", MADE, "Yes."], tools=[make_report]) as desk:
        await define(desk)
        await desk.told("Go.")
        wanted = msgspec.to_builtins(REPORT)
        assert read_json(desk, "outcome.json")["active_outcome"] == _lists(wanted)
        repair = (shown(desk) / "outcome-repair.md").read_text("utf-8")
        assert "in_progress" in repair
        assert "report.md is written" in repair
        await desk.told("Go on.")
        judged = await managed_of(desk).judging.judged()
        assert judged.evaluation.status == "pass"
        grade, verdict = (read_json(desk, f"outcome-{one}.json") for one in ("grade", "evaluation"))
        assert grade["grade"] == _lists(msgspec.to_builtins(judged.grade))
        assert verdict["evaluation"] == _lists(msgspec.to_builtins(judged.evaluation))
        past = read_json(desk, "outcome-evaluations.json")
        assert past["count"] == 2
        assert past["evaluations"] == _lists(msgspec.to_builtins(judged.records))
        assert [one["evaluation"]["status"] for one in past["evaluations"]] == ["not_ready", "pass"]
        for name, word in (("grade", "done_candidate"), ("evaluation", "pass")):
            assert word in (shown(desk) / f"outcome-{name}.md").read_text("utf-8")
        assert "not_ready" in (shown(desk) / "outcome-evaluations.md").read_text("utf-8")


def _lists(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.mark.req("BOA-ART-16", "BOA-ART-17", "BOA-ART-18", "BOA-ART-19")
async def test_what_happened_is_shown_when_a_run_rests(tmp_path: Path) -> None:
    async with at_managed_work(tmp_path, ["So."] * 30) as desk:
        child = ChildCreated(child_session_id="ses_none", message="Work.", lasting=True)
        await say(desk, child)
        await define(desk)
        for number in range(26):
            await desk.told(f"Hello {number}.")
        feed, traces = read_json(desk, "event-feed.json"), read_json(desk, "wake-traces.json")
        assert feed["count"] == len(feed["events"]) == 32
        events = {one.id: one for one in await desk.events()}
        for row in feed["events"]:
            event = events[row["id"]]
            assert row["type"] == event.type
            assert row["created_at"] == event.at.isoformat()
            assert row["wake_id"] == event.wake_id
            assert len(row["preview"]) <= 180
        said = [one for one in feed["events"] if one["type"] == "user.message"]
        assert said[-1]["preview"] == "Hello 25."
        assert said[-1]["processed_at"] is not None
        assert "Hello 25." in (shown(desk) / "event-feed.md").read_text("utf-8")
        assert traces["count"] == 24
        last = traces["traces"][-1]
        assert last["latest_summary"] == "So."
        status = read_json(desk, "session-status.json")
        assert (status["status"], status["turns"]) == ("idle", 26)
        assert status["checkpoint"]["last_wake_id"] == last["wake_id"]
        assert status["shell_state"]["env"] == {"count": 0, "keys": [], "to_set_again": []}
        runtime = read_json(desk, "session-runtime.json")
        assert runtime["environment_id"] == "local-default"
        assert runtime["mounted_resources"][0]["kind"] == "session_workspace"
        assert read_json(desk, "session-relations.json")["parent"] is None


@pytest.mark.req("BOA-ART-19")
async def test_sessions_around_it_are_shown(tmp_path: Path) -> None:
    ask = ("session_delegate", '{"message": "Look.", "title": "A look"}')
    agent = Agent(id="worker")
    async with at_managed_work(tmp_path, [calls(ask), "So."], agent=agent) as desk:
        await desk.told("Delegate.")
        (child,) = read_json(desk, "session-relations.json")["children"]
        assert child["outcome_title"] == "A look"
        assert child["session_id"].startswith("ses_")


@pytest.mark.req("BOA-PDSC-12", "BOA-ART-05")
async def test_what_has_to_be_decided_is_shown_while_it_waits_and_no_longer(tmp_path: Path) -> None:
    during: list[Any] = []

    async def approver(_ask: Any) -> Answer:
        await managed_of(desk).caught_up()
        during.append(read_json(desk, "permission-posture.json"))
        during.append((shown(desk) / "permission-posture.md").read_text("utf-8"))
        return Answer(allowed=True, by="ada")

    @tool
    async def peek() -> str:
        """Look once more."""
        await managed_of(desk).caught_up()
        during.append(read_json(desk, "permission-posture.json"))
        return "seen"

    turns = [calls(("deploy", '{"place": "north"}')), calls(("peek", "{}")), "So."]
    options: dict[str, Any] = {"approver": approver, "equipment": {"interactive": True}}
    async with at_managed_work(tmp_path, turns, tools=[deploy, peek], **options) as desk:
        await define(desk)
        await desk.told("Deploy.")
        waits, text, over = during
        (asked,) = await desk.payloads(ApprovalAsked)
        assert [one["id"] for one in waits["pending_requests"]] == [asked.approval_id]
        assert asked.approval_id in text
        assert waits["always_ask_tools"] == [
            *("deploy", "memory_promote_note", "resources_promote_to_substrate"),
            *("resources_restore_version", "shell_exec", "shell_run"),
        ]
        assert waits["outcome_evaluation"]["status"] == "blocked" or waits["next_outcome_step"]
        assert waits["context_pressure"]["level"] == "low"
        assert waits["shell_mutation_posture"]["status"] == "none"
        assert "next_shell_step" in waits
        assert over["pending_requests"] == []
        assert len(await desk.payloads(ApprovalAnswered)) == 1


@pytest.mark.req("BOA-PDSC-12", "BOA-ART-05")
async def test_what_waits_when_a_run_rests_is_shown_and_so_is_a_change_of_the_shell(
    tmp_path: Path,
) -> None:
    looks: list[int] = []

    async def posture() -> JsonObject:
        looks.append(1)
        return {"looks": len(looks)}

    turns = [calls(("deploy", '{"place": "north"}'))]
    async with at_managed_work(tmp_path, turns, tools=[deploy]) as desk:
        await desk.told("Deploy.")
        (request,) = read_json(desk, "permission-posture.json")["pending_requests"]
        assert request["kind"] == "tool_confirmation"
        assert request["tool_name"] == "deploy"
        assert "north" in request["input_preview"]
        assert read_json(desk, "session-status.json")["pending_requests"] == [request]
        managed_of(desk).brought.shows["permission_posture"] = posture
        log = desk.holdfast.parts.log
        assert log is not None
        await log.append([ShellChanged(cwd="/")])
        await managed_of(desk).caught_up()
        assert read_json(desk, "permission-posture.json") == {"looks": 1}


async def test_what_was_staged_is_shown_by_where_it_is(tmp_path: Path) -> None:
    staged = ResourceStaged(
        source_path="a.md", target_path="own/a.md", source_hash="x", target_hash="y"
    )
    promoted = ResourcePromoted(
        target_path="a.md", version_id="v", content_hash="z", source_path="own/a.md"
    )
    async with at_managed_work(tmp_path, ["So."]) as desk:
        await say(desk, staged, promoted)
        await desk.told("Hello.")
        (entry,) = read_json(desk, "staged-substrate.json").items()
        assert entry[0] == "own/a.md"
        assert (entry[1]["source_path"], entry[1]["source_content_hash"]) == ("a.md", "z")
        assert entry[1]["target_content_hash"] == "z"


async def test_a_disk_that_takes_nothing_and_a_broken_provider_fail_no_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken() -> JsonObject:
        raise RuntimeError("no vault")

    async with at_managed_work(tmp_path, ["So.", "So."]) as desk:
        managed_of(desk).brought.shows["vaults"] = broken
        (tmp_path / "workspace" / ".holdfast-runtime").write_text("in the way", "utf-8")
        with caplog.at_level(logging.WARNING, "holdfast"):
            await desk.told("Hello.")
        assert desk.session.last is not None
        assert desk.session.last.ended == "final_response"
        assert "is not shown" in caplog.text
        caplog.clear()
        (tmp_path / "workspace" / ".holdfast-runtime").unlink()
        await desk.told("Again.")
        assert (shown(desk) / "skills.json").exists()
        assert not (shown(desk) / "vaults.json").exists()
        caplog.clear()


async def test_a_session_that_is_opened_again_is_shown_again(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    looks: list[int] = []

    async def posture() -> JsonObject:
        looks.append(1)
        return {}

    options: dict[str, Any] = {"surroundings": home_of(tmp_path), "settings": Settings()}
    hf = Holdfast(profile="managed", workspace=workspace, tools=[look], **options)
    managed = hf.parts.own.managed
    log = hf.parts.log
    assert managed is not None
    assert log is not None
    managed.brought.shows["permission_posture"] = posture
    for opened in (1, 2):
        async with hf:
            await log.append([ShellChanged(cwd="/")])
            await managed.caught_up()
            assert len(looks) == opened


async def test_a_secret_is_in_no_file(tmp_path: Path) -> None:
    around = msgspec.structs.replace(home_of(tmp_path), secrets=("hunter2hunter2",))
    async with at_managed_work(tmp_path, ["hunter2hunter2"], surroundings=around) as desk:
        await desk.told("Say hunter2hunter2.")
        for file in shown(desk).iterdir():
            assert "hunter2" not in file.read_text("utf-8"), file.name


async def test_without_a_workspace_nothing_is_shown_and_all_else_is_done(tmp_path: Path) -> None:
    async with at_work(tmp_path, ["So."], profile="managed", workspace=None) as desk:
        await define(desk)
        await desk.told("Hello.")
        assert managed_of(desk).artifacts is None or shown(desk).exists()
        assert len(await desk.payloads(ContextMeasured)) == 1


async def test_in_other_profiles_nothing_is_shown_or_written_down(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    async with at_work(tmp_path, ["So."], profile="code", workspace=workspace) as desk:
        await desk.told("Hello.")
        assert desk.holdfast.parts.own.managed is None
        assert await desk.payloads(ContextMeasured) == []
        assert [*workspace.iterdir()] == []


async def test_a_managed_run_with_all_of_it_comes_out_again(tmp_path: Path) -> None:
    turns = [calls(("look", '{"place": "north"}')), MADE, "Yes.", "Nothing."]
    async with at_managed_work(tmp_path, turns, tools=[make_report, look], alone=False) as desk:
        await define(desk)
        await desk.told("Read notes.txt.")
        await desk.told("Go on.")
        assert any(notes(desk, number) for number in range(len(desk.model.requests)))
        kinds = {one.type for one in await desk.events()}
        assert {"outcome.evaluated", "context.measured"} <= kinds
        found = await replays(desk)
        assert (found.requests_compared, found.wakes) == (4, 2)
