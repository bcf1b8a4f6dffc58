"""How far an agent came, by what its runs did: graded, evaluated, recorded, and the gate on it."""

from pathlib import Path
from typing import Any

import pytest
from agents_at_work import Desk
from outcomes_at_work import (
    CRITERION,
    DEFINE,
    FAILS,
    OUTCOME,
    READ,
    WORK,
    agent_of_the_till,
    asks,
    busy_shell,
    evaluation_of,
    managed_of,
    records,
)
from tool_kit import result

from holdfast.contract.events import CallSettled, CustomToolUse, ToolUse
from holdfast.contract.json_value import decode_json, encode_json
from holdfast.contract.managed_events import OutcomeEvaluated

pytestmark = pytest.mark.anyio

LATER = '<holdfast-session-loop>{"outcome": "continue"}</holdfast-session-loop>'


async def answers(desk: Desk, name: str) -> list[dict[str, Any]]:
    settled = [one for one in await desk.payloads(CallSettled) if one.tool == name]
    return [decode_json(bytes(one.envelope))["result"] for one in settled]  # type: ignore[index] - an envelope is an object


@pytest.mark.req("BOA-GRADE-01", "BOA-GRADE-07", "BOA-EVAL-01", "BOA-EVAL-02")
async def test_an_outcome_that_is_shown_by_what_was_done_is_reached_when_the_run_rests(
    tmp_path: Path,
) -> None:
    turns = [DEFINE, READ, asks("outcome_evaluate"), "I made the till add up."]
    async with agent_of_the_till(tmp_path, turns) as desk:
        await desk.told("Mend the till.")
        (meanwhile,) = await answers(desk, "outcome_evaluate")
        assert meanwhile["grade"]["status"] == "done_candidate"
        assert meanwhile["evaluation"]["status"] == "uncertain"
        found = await result(desk.holdfast, "outcome_evaluate")
        assert found["active_outcome"]["title"] == OUTCOME["title"]
        assert (found["evaluation"]["status"], found["evaluation"]["promotion_ready"]) == (
            "pass",
            True,
        )
        (kept,) = found["evaluation_history"]
        graded = await result(desk.holdfast, "outcome_grade")
        assert graded["grade"] == found["grade"]
        grade = graded["grade"]
        assert (grade["status"], grade["confidence"]) == ("done_candidate", "medium")
        assert (grade["matched_criteria"], grade["total_criteria"]) == (1, 1)
        (shown,) = grade["evidence"]
        assert (shown["criterion"], shown["kind"]) == (CRITERION, "output")
        events = {one.id: one for one in await desk.events()}
        assert events[shown["event_id"]].type == "call.settled"
        assert grade["next_suggested_tool"]["tool"] == "session_get_trace"
        assert grade["next_suggested_tool"]["args"] == {"wake_id": kept["wake_id"]}
        assert await result(desk.holdfast, "outcome_grade") == graded


@pytest.mark.req("BOA-GRADE-11")
@pytest.mark.parametrize(
    "turns",
    [
        [DEFINE, "Nothing was done at all."],
        [DEFINE, f"I did it all: {CRITERION} in every way."],
        [DEFINE, asks("outcome_read"), asks("permissions_describe"), f"So {CRITERION} now."],
        [DEFINE, asks("read", path=".holdfast-runtime/outcome.json"), "Read."],
        [DEFINE, asks("grep", pattern="till"), asks("grep", pattern="passes"), "Searched."],
        [DEFINE, asks("bash", command="cat .holdfast-runtime/outcome-repair.md"), "Read."],
        [DEFINE, asks("todo", todos=[{"content": f"see that {CRITERION}"}]), "Planned."],
        [DEFINE, asks("read", path="plan.json"), "Read."],
    ],
    ids=["nothing", "words", "records", "shown", "searched", "repair", "plans", "one line"],
)
async def test_nothing_that_only_tells_the_outcome_again_shows_anything(
    tmp_path: Path, turns: list[Any]
) -> None:
    async with agent_of_the_till(tmp_path, turns) as desk:
        workspace = tmp_path / "workspace"
        (workspace / "report.txt").unlink()
        (workspace / "plan.json").write_bytes(encode_json({"active_outcome": OUTCOME}))
        shown = workspace / ".holdfast-runtime"
        shown.mkdir(exist_ok=True)
        told = f"Here it is written that {CRITERION}, and more words beside it."
        (shown / "outcome.json").write_bytes(encode_json({"active_outcome": OUTCOME, "x": told}))
        (shown / "outcome-repair.md").write_text(f"- Unmet: {told}\n", "utf-8")
        await desk.told("Mend the till.")
        graded = (await result(desk.holdfast, "outcome_grade"))["grade"]
        assert graded["status"] == "in_progress"
        found = await evaluation_of(desk)
        assert (found["status"], found["promotion_ready"]) == ("not_ready", False)


async def test_what_was_done_before_the_outcome_was_defined_shows_nothing(tmp_path: Path) -> None:
    async with agent_of_the_till(tmp_path, [READ, "Read.", DEFINE, "Defined."]) as desk:
        await desk.told("Read.")
        await desk.told("Define.")
        assert (await evaluation_of(desk))["status"] == "not_ready"


async def test_without_a_run_since_it_was_defined_the_last_one_is_read_again(
    tmp_path: Path,
) -> None:
    async with agent_of_the_till(tmp_path, ["Hello."]) as desk:
        await desk.told("Hello?")
        await result(desk.holdfast, "outcome_define", **OUTCOME)
        step = (await evaluation_of(desk))["next_suggested_tool"]
        wakes = {one.wake_id for one in await desk.events()} - {None}
        assert (step["tool"], {step["args"]["wake_id"]}) == ("session_get_trace", wakes)


@pytest.mark.req("BOA-EVAL-06")
async def test_a_failure_in_the_newest_run_fails_and_one_before_it_does_not(
    tmp_path: Path,
) -> None:
    async with agent_of_the_till(tmp_path, [*WORK[:2], FAILS, "Done.", "Better."]) as desk:
        await desk.told("Mend the till.")
        found = await evaluation_of(desk)
        assert (found["status"], found["promotion_ready"]) == ("fail", False)
        assert "read" in found["summary"]
        await desk.told("And now?")
        assert (await evaluation_of(desk))["status"] == "pass"


@pytest.mark.req("BOA-EVAL-10", "BOA-EVAL-11", "BOA-EVAL-13", "BOA-EVAL-18", "BOA-EVAL-19")
@pytest.mark.req("BOA-EVAL-15", "BOA-EVAL-16", "BOA-EVAL-20", "BOA-EVAL-21")
async def test_each_run_is_recorded_once_and_compared_with_the_run_before(tmp_path: Path) -> None:
    """Asked again later, it says the same: a record is not compared with itself."""
    turns = [DEFINE, "Not yet.", READ, "Now it does.", FAILS, "It broke.", "Rested."]
    async with agent_of_the_till(tmp_path, turns) as desk:
        trends: list[str] = []
        for message in ("Mend it.", "Go on.", "And?", "Well?"):
            await desk.told(message)
            found = await evaluation_of(desk)
            assert found["trend_summary"].endswith(".")
            trends.append(found["trend"])
        assert trends == ["first_iteration", "improving", "regressing", "improving"]
        declared: Any = next(
            one.input_schema for one in desk.holdfast.tools if one.name == "outcome_history"
        )
        assert declared["properties"]["limit"]["default"] == 12
        told = await result(desk.holdfast, "outcome_history")
        assert (told["count"], told["latest_iteration"]) == (4, 3)
        assert told["active_outcome"]["title"] == OUTCOME["title"]
        kept = told["evaluations"]
        assert [one["iteration"] for one in kept] == [0, 1, 2, 3]
        assert [one["evaluation"]["trend"] for one in kept] == trends
        assert [one["evaluation"]["status"] for one in kept] == [
            *("not_ready", "pass", "fail", "pass")
        ]
        assert [one["grade_status"] for one in kept] == ["in_progress", *["done_candidate"] * 3]
        wakes = dict.fromkeys(one.wake_id for one in await desk.events() if one.wake_id)
        assert [one["wake_id"] for one in kept] == list(wakes)
        assert {one["outcome_title"] for one in kept} == {OUTCOME["title"]}
        assert len({one["outcome_fingerprint"] for one in kept}) == 1
        assert all(one["evaluated_at"] for one in kept)
        newest = await result(desk.holdfast, "outcome_history", limit=2)
        assert (newest["count"], newest["evaluations"]) == (2, kept[2:])
        await managed_of(desk.holdfast).judging.record()
        assert await records(desk) == kept
        assert len(await desk.payloads(OutcomeEvaluated)) == 4


async def test_the_newest_twelve_are_kept(tmp_path: Path) -> None:
    async with agent_of_the_till(tmp_path, [DEFINE, *(f"Run {n}." for n in range(14))]) as desk:
        for _ in range(14):
            await desk.told("Go on.")
        assert [one["iteration"] for one in await records(desk)] == list(range(2, 14))
        told = await result(desk.holdfast, "outcome_history", limit=40)
        assert (told["count"], told["latest_iteration"]) == (12, 13)
        step = (await evaluation_of(desk))["next_suggested_tool"]
        assert (step["tool"], step["args"]) == ("outcome_history", {"limit": 6})


async def test_another_outcome_has_a_history_of_its_own(tmp_path: Path) -> None:
    other = asks("outcome_define", title="The till prints")
    async with agent_of_the_till(tmp_path, [*WORK, other, "Defined."]) as desk:
        await desk.told("Mend the till.")
        await desk.told("Make it print.")
        told = await result(desk.holdfast, "outcome_history")
        assert (told["count"], told["latest_iteration"]) == (2, 0)
        assert (await evaluation_of(desk))["trend"] == "first_iteration"


async def pending_shell(desk: Desk, command: str, tool_name: str = "shell_run") -> None:
    """A call of a shell tool waits for a person."""
    log = desk.holdfast.parts.log
    assert log is not None
    used = ToolUse(
        request_id="apr_1",
        tool_name=tool_name,
        ownership="managed",
        permission_policy="always_ask",
        input={"command": command},
    )
    await (await log.journal()).append(desk.session.id, [used])


@pytest.mark.req("BOA-GRADE-05")
@pytest.mark.parametrize("name", ["shell_run", "shell_exec"])
async def test_a_blocked_command_that_only_reads_can_be_read_at_once(
    tmp_path: Path, name: str
) -> None:
    async with agent_of_the_till(tmp_path, []) as desk:
        await result(desk.holdfast, "outcome_define", **OUTCOME)
        await pending_shell(desk, "wc -l report.txt", name)
        graded = (await result(desk.holdfast, "outcome_grade"))["grade"]
        assert (graded["status"], graded["confidence"]) == ("blocked", "high")
        step = graded["next_suggested_tool"]
        assert step["tool"] == "bash"
        ran = await result(desk.holdfast, "bash", **step["args"])
        assert ran["stdout"].startswith("2 ")
        assert (await evaluation_of(desk))["status"] == "blocked"


@pytest.mark.req("BOA-GRADE-04")
async def test_what_waits_blocks_and_its_step_says_how_to_look_at_it(tmp_path: Path) -> None:
    async with agent_of_the_till(tmp_path, []) as desk:
        await result(desk.holdfast, "outcome_define", **OUTCOME)
        await pending_shell(desk, "make install")
        step = (await evaluation_of(desk))["next_suggested_tool"]
        assert (step["tool"], step["args"]) == ("permissions_check", {"tool_name": "shell_run"})
        assert (await result(desk.holdfast, step["tool"], **step["args"]))["tool_name"]
        log = desk.holdfast.parts.log
        assert log is not None
        custom = CustomToolUse(request_id="cus_1", tool_name="order", input={})
        await (await log.journal()).append(desk.session.id, [custom])
        found = (await result(desk.holdfast, "outcome_grade"))["grade"]
        assert found["status"] == "blocked"


@pytest.mark.req("BOA-GRADE-06")
async def test_a_session_that_goes_on_by_itself_sleeps(tmp_path: Path) -> None:
    turns = [DEFINE, READ, f"Half of it. {LATER}"]
    equipment = {"managed": True, "directives": True}
    async with agent_of_the_till(tmp_path, turns, equipment=equipment) as desk:
        await desk.session.send("Mend the till.")
        await desk.session.wake()
        graded = (await result(desk.holdfast, "outcome_grade"))["grade"]
        assert (graded["status"], graded["confidence"]) == ("sleeping", "medium")
        assert graded["next_suggested_tool"]["tool"] == "session_get_snapshot"
        assert (await evaluation_of(desk))["status"] == "not_ready"


@pytest.mark.req("BOA-EVAL-09")
async def test_a_command_that_still_runs_holds_the_verdict_of_its_own_session(
    tmp_path: Path,
) -> None:
    async with agent_of_the_till(tmp_path, WORK) as desk:
        await desk.told("Mend the till.")
        managed_of(desk.holdfast).shell = busy_shell(str(tmp_path))
        found = await evaluation_of(desk)
        assert (found["status"], found["promotion_ready"]) == ("not_ready", False)
        step = found["next_suggested_tool"]
        assert (step["tool"], step["args"]) == ("shell_wait", {"timeout_ms": 1000})
