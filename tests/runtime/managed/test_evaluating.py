"""Verdicts on what a session did, how they move from run to run, and the gate on them."""

import msgspec
import pytest
from grades_at_work import OUTCOME, WELL, standing
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.events import WantedOutcome
from holdfast.contract.managed.outcomes import Past
from holdfast.contract.outcomes import (
    Evaluation,
    EvaluationRecord,
    EvaluationStatus,
    Grade,
    LastWake,
    outcome_fingerprint,
)
from holdfast.runtime.managed.evaluating import (
    evaluate,
    gate_step,
    moved,
    next_outcome_step,
    recorded,
    refused_by_gate,
)
from holdfast.runtime.managed.grading import grade

CANDIDATE = grade(standing())


@pytest.mark.req("BOA-EVAL-03", "BOA-EVAL-04", "BOA-EVAL-05", "BOA-EVAL-08")
@pytest.mark.parametrize(
    ("graded", "wake", "status", "ready"),
    [
        (grade(standing(outcome=None)), WELL, "missing_outcome", False),
        (grade(standing(stop_reason="requires_action")), WELL, "blocked", False),
        (grade(standing(sleeps=True)), WELL, "not_ready", False),
        (grade(standing(evidence=())), WELL, "not_ready", False),
        (CANDIDATE, msgspec.structs.replace(WELL, failed_tools=("bash",)), "fail", False),
        (CANDIDATE, WELL, "pass", True),
        (CANDIDATE, msgspec.structs.replace(WELL, came_to_rest=False), "uncertain", False),
        (CANDIDATE, msgspec.structs.replace(WELL, succeeded=False), "uncertain", False),
    ],
)
def test_only_a_candidate_whose_last_run_went_well_passes(
    graded: Grade, wake: LastWake, status: str, ready: bool
) -> None:
    found = evaluate(graded, wake, Past())
    assert (found.status, found.promotion_ready) == (status, ready)


@pytest.mark.req("BOA-EVAL-07")
def test_a_pass_is_less_sure_without_a_summary() -> None:
    without = msgspec.structs.replace(WELL, has_summary=False)
    assert evaluate(CANDIDATE, WELL, Past()).confidence == "high"
    assert evaluate(CANDIDATE, without, Past()).confidence == "medium"


@pytest.mark.parametrize(
    ("graded", "held"),
    [
        (CANDIDATE, True),
        (grade(standing(evidence=())), True),
        (grade(standing(outcome=None)), False),
        (grade(standing(stop_reason="requires_action")), False),
    ],
)
def test_a_command_that_still_runs_holds_the_verdict(graded: Grade, held: bool) -> None:
    found = evaluate(graded, WELL, Past(), busy=True)
    step = found.next_suggested_tool
    assert step is not None
    waits = ("not_ready", False, "shell_wait", {"timeout_ms": 1000})
    assert ((found.status, found.promotion_ready, step.tool, step.args) == waits) is held


def test_a_failure_stays_one_while_a_command_runs() -> None:
    failed = msgspec.structs.replace(WELL, failed_tools=("bash",))
    assert evaluate(CANDIDATE, failed, Past(), busy=True).status == "fail"


RANKED: list[EvaluationStatus] = [
    *("missing_outcome", "fail", "blocked", "not_ready", "uncertain", "pass"),
]
"""From the worst to the best."""


def past(*statuses: EvaluationStatus, wake_id: str = "wak_9") -> Past:
    """Runs before, each with its own evaluation."""
    known = Past(outcome=OUTCOME)
    for number, status in enumerate(statuses):
        found = Evaluation(
            status=status, confidence="high", summary="", promotion_ready=status == "pass"
        )
        at = msgspec.structs.replace(known, wake_id=f"wak_{number}")
        known = msgspec.structs.replace(known, records=recorded(found, CANDIDATE, at, "then"))
    return msgspec.structs.replace(known, wake_id=wake_id)


@pytest.mark.parametrize(
    ("before", "trend"),
    [
        ((), "first_iteration"),
        (("not_ready",), "improving"),
        (("pass", "uncertain"), "improving"),
        (("not_ready", "pass"), "stable"),
    ],
)
def test_the_trend_is_to_the_run_before(before: tuple[EvaluationStatus, ...], trend: str) -> None:
    found = evaluate(CANDIDATE, WELL, past(*before))
    assert found.trend == trend
    assert found.trend_summary.count(".") == 1


def test_a_verdict_that_is_worse_regresses() -> None:
    graded = grade(standing(evidence=()))
    assert evaluate(graded, WELL, past("uncertain")).trend == "regressing"


def test_a_record_of_the_same_run_is_nothing_to_compare_with() -> None:
    """Asked again, it says what it said before."""
    known = past("not_ready")
    first = evaluate(CANDIDATE, WELL, known)
    after = msgspec.structs.replace(known, records=recorded(first, CANDIDATE, known, "now"))
    assert evaluate(CANDIDATE, WELL, after) == first
    assert first.trend == "improving"


def test_another_outcome_has_a_history_of_its_own() -> None:
    other = msgspec.structs.replace(OUTCOME, title="The till prints")
    known = msgspec.structs.replace(past("fail", "fail"), outcome=other)
    found = evaluate(CANDIDATE, WELL, known)
    assert found.trend == "first_iteration"
    assert outcome_fingerprint(other) != outcome_fingerprint(OUTCOME)
    assert recorded(found, CANDIDATE, known, "now")[-1].iteration == 0


@pytest.mark.req("BOA-EVAL-22")
def test_runs_that_go_round_are_to_be_looked_at_together() -> None:
    graded = grade(standing(evidence=()))
    found = evaluate(graded, WELL, past("fail", "not_ready", "not_ready"))
    assert found.next_suggested_tool is not None
    assert (found.next_suggested_tool.tool, found.next_suggested_tool.args) == (
        "outcome_history",
        {"limit": 3},
    )
    others: list[tuple[EvaluationStatus, ...]] = [("not_ready",), ("fail", "fail", "pass", "fail")]
    for before in others:
        step = evaluate(graded, WELL, past(*before)).next_suggested_tool
        assert step is not None
        assert step.tool == "session_get_trace"


def test_what_was_recorded_already_is_not_recorded_again() -> None:
    known = past("not_ready")
    found = evaluate(CANDIDATE, WELL, known)
    first = recorded(found, CANDIDATE, known, "now")
    again = msgspec.structs.replace(known, records=first)
    assert recorded(found, CANDIDATE, again, "later") == first
    other = msgspec.structs.replace(found, status="fail")
    assert recorded(other, CANDIDATE, again, "later")[-1].evaluated_at == "later"
    assert len(recorded(other, CANDIDATE, again, "later")) == len(first)


@given(st.sampled_from(RANKED))
def test_only_a_pass_is_ready_whatever_an_evaluator_says(status: EvaluationStatus) -> None:
    told = Evaluation(status=status, confidence="low", summary="", promotion_ready=True)
    assert moved(told, Past()).promotion_ready is (status == "pass")


@pytest.mark.req("BOA-EVAL-12")
@given(st.sampled_from(RANKED), st.sampled_from(RANKED))
def test_the_trend_follows_the_ranks_of_the_verdicts(
    now: EvaluationStatus, then: EvaluationStatus
) -> None:
    found = moved(Evaluation(status=now, confidence="low", summary=""), past(then))
    ranks = RANKED.index(now) - RANKED.index(then)
    assert found.trend == ("improving" if ranks > 0 else "regressing" if ranks < 0 else "stable")


def test_the_step_towards_an_outcome_names_another_session() -> None:
    found = evaluate(grade(standing(evidence=())), WELL, past("not_ready"))
    step = next_outcome_step(found, OUTCOME, "ses_2")
    assert step is not None
    assert step.args == {"limit": 6, "session_id": "ses_2"}
    assert next_outcome_step(found, None) is None
    ready = evaluate(CANDIDATE, WELL, past())
    assert next_outcome_step(ready, OUTCOME) is None


STATUSES: list[EvaluationStatus] = ["pass", "uncertain", "not_ready", "fail"]


@given(st.lists(st.tuples(st.integers(0, 20), st.sampled_from(STATUSES)), max_size=40))
def test_a_run_has_one_record_and_the_newest_are_kept(
    runs: list[tuple[int, EvaluationStatus]],
) -> None:
    known = Past(outcome=OUTCOME)
    for number, status in runs:
        found = Evaluation(status=status, confidence="low", summary="")
        at = msgspec.structs.replace(known, wake_id=f"wak_{number}")
        records = recorded(found, CANDIDATE, at, "now")
        _check(list(records), at.wake_id, status)
        known = msgspec.structs.replace(known, records=records)


def _check(records: list[EvaluationRecord], wake_id: str | None, status: EvaluationStatus) -> None:
    assert len(records) <= 12
    assert len({one.wake_id for one in records}) == len(records)
    assert (records[-1].wake_id, records[-1].evaluation.status) == (wake_id, status)
    iterations = [one.iteration for one in records]
    assert iterations == sorted(iterations)


@pytest.mark.parametrize(
    ("outcome", "required", "status", "refused"),
    [
        (OUTCOME, None, "not_ready", True),
        (OUTCOME, None, "pass", False),
        (OUTCOME, False, "not_ready", False),
        (None, None, "missing_outcome", False),
        (None, True, "missing_outcome", True),
        (OUTCOME, True, "pass", False),
    ],
)
def test_the_gate_is_shut_until_the_outcome_is_reached(
    outcome: WantedOutcome | None,
    required: bool | None,
    status: EvaluationStatus,
    refused: bool,
) -> None:
    found = Evaluation(
        status=status, confidence="low", summary="Half of it.", promotion_ready=status == "pass"
    )
    told = refused_by_gate("memory_promote_note", found, outcome, required=required)
    assert (told is not None) is refused
    if told is not None:
        assert told.startswith(
            "memory_promote_note requires outcome_evaluate to return status=pass; it returns"
        )
        assert status in told
        assert "Half of it. Next: " in told


@pytest.mark.req("BOA-GATE-07")
def test_the_step_behind_the_gate_is_the_history_where_it_does_not_get_better() -> None:
    found = evaluate(grade(standing(evidence=())), WELL, past("not_ready"))
    assert found.trend == "stable"
    assert gate_step(found).tool == "outcome_history"
    worse = msgspec.structs.replace(found, trend="regressing")
    assert gate_step(worse).tool == "outcome_history"
    better = msgspec.structs.replace(found, trend="improving")
    assert gate_step(better) == found.next_suggested_tool
    bare = msgspec.structs.replace(better, next_suggested_tool=None)
    assert gate_step(bare).tool == "outcome_evaluate"
