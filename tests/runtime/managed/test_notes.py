"""What a model is told when a run begins: a line for each thing, which ends in a call."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.events import WantedOutcome
from holdfast.contract.json_value import JsonValue
from holdfast.contract.managed.recalling import Recalled, Reminder
from holdfast.contract.managed.shell_views import BusyPlan, PersistentView, ShellPosture
from holdfast.contract.outcomes import (
    Evaluation,
    EvaluationStatus,
    Grade,
    GradeStatus,
    Trend,
)
from holdfast.contract.steps import Step
from holdfast.runtime.managed.harness_note import harness_note
from holdfast.runtime.managed.notes import LONGEST_NOTE, MOST_NOTES, Survey, notes_of

OUTCOME = WantedOutcome(title="A report", success_criteria=("it is written",))
LEADS = Step(tool="session_get_trace", args={"wake_id": "wak_1"}, rationale="Look there.")
BUSY = ShellPosture(
    status="active",
    busy=True,
    cwd="/",
    persistent_shell=PersistentView(
        shell_id="sh_1", status="active", busy=True, current_command="make all"
    ),
)


def _survey(
    grade: GradeStatus = "in_progress",
    status: EvaluationStatus = "not_ready",
    trend: Trend = "first_iteration",
    **more: Any,
) -> Survey:
    found = Evaluation(
        status=status,
        confidence="low",
        summary="Not yet.",
        promotion_ready=status == "pass",
        trend=trend,
        next_suggested_tool=LEADS,
    )
    graded = Grade(status=grade, confidence="low", summary="So.", next_suggested_tool=LEADS)
    wanted = None if grade == "missing_outcome" else OUTCOME
    return Survey(outcome=wanted, grade=graded, evaluation=found, **more)


def _notes(survey: Survey) -> tuple[str, ...]:
    return notes_of(survey, lambda _name: True)


def _kinds(survey: Survey) -> list[str]:
    return [line[1:].partition("]")[0] for line in _notes(survey)]


def _step(line: str) -> tuple[str, Any]:
    rest = line.partition(" next_tool=")[2]
    name, _, rest = rest.partition(" next_args=")
    return name, json.loads(rest.rpartition(" next_why=")[0])


@pytest.mark.req("BOA-GRADE-13", "BOA-EVAL-23", "BOA-EVAL-24")
@pytest.mark.parametrize(
    ("survey", "kinds"),
    [
        (_survey("missing_outcome", "missing_outcome"), ["outcome-repair"]),
        (_survey("blocked", "blocked"), ["outcome-repair", "promotion-gate"]),
        (_survey("sleeping"), ["outcome-repair", "promotion-gate"]),
        (_survey("done_candidate", "fail"), ["outcome-repair", "promotion-gate"]),
        (_survey("done_candidate", "pass", "stable"), ["outcome-repair"]),
        (_survey(), ["promotion-gate"]),
        (_survey(trend="improving"), ["promotion-gate"]),
        (_survey(trend="stable"), ["promotion-gate", "outcome-trend"]),
        (_survey(trend="regressing"), ["promotion-gate", "outcome-trend"]),
        (_survey("blocked", "blocked", is_released=True), ["promotion-gate"]),
        (_survey("sleeping", is_released=True), ["promotion-gate"]),
        (_survey(has_drifted=True), ["promotion-gate", "setup-drift"]),
        (Survey(shell=BUSY), ["shell-busy"]),
        (Survey(shell=ShellPosture(status="active", cwd="/")), []),
        (Survey(reads=LEADS), ["read-first"]),
        (Survey(), []),
    ],
)
def test_each_thing_has_its_line_where_it_is_so(survey: Survey, kinds: list[str]) -> None:
    assert _kinds(survey) == kinds


def _found(number: int) -> tuple[Reminder, ...]:
    step = Step(tool="skills_read", args={"name": "a"}, rationale="It may help.")
    return tuple(Reminder(title=f"hit {one}", step=step) for one in range(number))


@pytest.mark.req("BOA-RETR-30")
def test_three_candidates_and_two_skills_are_told_and_two_sessions_only_without_them() -> None:
    both = Recalled(candidates=_found(9), plan=(LEADS, LEADS), skills=_found(9), sessions=_found(9))
    assert _kinds(Survey(recalled=both)) == [
        *["skill-candidate"] * 2,
        "retrieval-plan",
        *["retrieval-candidate"] * 3,
    ]
    alone = Recalled(plan=(LEADS,), sessions=_found(9))
    assert _kinds(Survey(recalled=alone)) == ["session-candidate"] * 2
    skill = Recalled(skills=_found(1), sessions=_found(1))
    assert _kinds(Survey(recalled=skill)) == ["skill-candidate"]


@pytest.mark.req("BOA-CTX-15")
def test_all_that_can_be_told_at_once_is_told_and_ends_in_a_call() -> None:
    recalled = Recalled(candidates=_found(3), plan=(LEADS,), skills=_found(2))
    survey = _survey(
        *("blocked", "blocked", "stable"),
        has_drifted=True,
        shell=BUSY,
        reads=LEADS,
        recalled=recalled,
    )
    lines = _notes(survey)
    assert list(dict.fromkeys(_kinds(survey))) == [
        *("outcome-repair", "promotion-gate", "outcome-trend", "setup-drift", "shell-busy"),
        *("read-first", "skill-candidate", "retrieval-plan", "retrieval-candidate"),
    ]
    assert len(lines) == MOST_NOTES
    for line in lines:
        name, given_to_it = _step(line)
        assert name.isidentifier()
        assert isinstance(given_to_it, dict)
    assert lines[0] == (
        "[outcome-repair] status=blocked confidence=low criteria=0/0 next_tool=session_get_trace"
        ' next_args={"wake_id":"wak_1"} next_why="Look there."'
    )
    assert lines[1].endswith(
        'next_tool=outcome_history next_args={"limit":6} next_why="It does not get better from run'
        ' to run: see why before one more."'
    )
    assert lines[4].startswith('[shell-busy] shell=sh_1 command="make all" next_tool=shell_wait')


def test_what_is_not_waited_for_any_more_leads_to_a_fresh_look() -> None:
    (line,) = _notes(_survey("blocked", "blocked", is_released=True))
    assert line.startswith(
        "[promotion-gate] status=blocked next_tool=outcome_evaluate next_args={}"
    )


def test_the_plan_of_a_busy_shell_counts_where_there_is_one() -> None:
    plan = BusyPlan(
        step=Step(tool="shell_describe", rationale="Look."),
        allowlisted_read_tools=(),
        evidence_plan=LEADS,
        avoid_tools=(),
    )
    busy = ShellPosture(status="active", busy=True, cwd="/", busy_plan=plan)
    (line,) = _notes(Survey(shell=busy))
    assert "next_tool=shell_describe" in line


def test_no_line_leads_to_a_tool_that_is_not_there() -> None:
    survey = _survey("blocked", "blocked", "stable", has_drifted=True)
    lines = notes_of(survey, lambda name: name != "session_get_trace")
    assert all("next_tool=session_get_trace" not in line for line in lines)
    assert len(lines) == 3


def test_a_call_that_would_make_the_line_too_long_is_not_cut() -> None:
    long = Step(tool="read", args={"path": "x" * LONGEST_NOTE}, rationale="Read it.")
    assert _notes(Survey(reads=long)) == ()


_texts = st.text(max_size=300)
_steps = st.builds(
    Step,
    tool=st.sampled_from(["read", "session_get_trace"]),
    args=st.dictionaries(_texts, _texts, max_size=3),
    rationale=_texts,
)
_reminders = st.lists(
    st.builds(Reminder, title=_texts, source=_texts, score=st.integers(), step=_steps), max_size=9
).map(tuple)


@pytest.mark.req("BOA-CTX-15")
@given(
    recalled=st.builds(
        Recalled,
        candidates=_reminders,
        plan=st.lists(_steps, max_size=4).map(tuple),
        skills=_reminders,
        sessions=_reminders,
    ),
    summary=_texts,
    step=_steps,
    trend=st.sampled_from(["stable", "improving"]),
)
def test_whatever_is_found_each_line_is_one_line_and_bounded(
    recalled: Recalled, summary: str, step: Step, trend: Trend
) -> None:
    found = Evaluation(
        status="not_ready",
        confidence="low",
        summary=summary,
        trend=trend,
        next_suggested_tool=step,
    )
    grade = Grade(status="blocked", confidence="low", summary=summary, next_suggested_tool=step)
    lines = _notes(
        Survey(
            outcome=OUTCOME,
            grade=grade,
            evaluation=found,
            has_drifted=True,
            shell=BUSY,
            reads=step,
            recalled=recalled,
        )
    )
    assert len(lines) <= MOST_NOTES
    for line in lines:
        assert len(line) <= LONGEST_NOTE
        assert line.splitlines() == [line]
        assert line.isprintable()


@given(facts=st.dictionaries(st.sampled_from(["a", "b"]), _texts | st.integers()), step=_steps)
def test_the_arguments_of_a_note_are_read_as_they_were_given(
    facts: dict[str, JsonValue], step: Step
) -> None:
    line = harness_note("read-first", facts, step)
    assert f"next_tool={step.tool} next_args=" in line
    text = line.split(f"next_tool={step.tool} next_args=", 1)[1]
    found, _ = json.JSONDecoder().raw_decode(text)
    assert found == step.args
