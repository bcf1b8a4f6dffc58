"""Whether what a session did may be shared, how that moves from run to run, and the gate on it.

Decided by the grade and by how the newest run went. What is kept of it, and where, is not known
here.
"""

from msgspec.structs import replace

from holdfast.contract.events import WantedOutcome
from holdfast.contract.json_value import JsonObject
from holdfast.contract.managed.outcomes import Case, Past, Verdict
from holdfast.contract.outcomes import (
    MOST_RECORDS,
    Confidence,
    Evaluation,
    EvaluationRecord,
    EvaluationStatus,
    Grade,
    LastWake,
    Trend,
    outcome_fingerprint,
)
from holdfast.contract.steps import Step
from holdfast.runtime.managed.grading import grade

_POINTS: dict[EvaluationStatus, int] = {
    "pass": 5,
    "uncertain": 4,
    "not_ready": 3,
    "blocked": 2,
    "fail": 1,
    "missing_outcome": 0,
}
_HELD_BY_A_SHELL = frozenset({"pass", "uncertain", "not_ready"})
WAIT_MS = 1000
"""How long the suggested wait for a shell is."""
_STILL_RUNS = (
    "All criteria seem met, but no run that shows it has come to rest: end this run with your last"
    " words, and promote in the next one."
)
_MOST_TO_REREAD = 6
_WITHOUT_PASS = 3
_SENTENCES: dict[Trend, str] = {
    "first_iteration": "This is the first evaluation of this outcome.",
    "improving": "It stands better than after the run before.",
    "stable": "It stands as it did after the run before.",
    "regressing": "It stands worse than after the run before.",
}


class PlainEvaluator:
    """Decides by rules alone: the same case has the same verdict."""

    async def verdict(self, case: Case, /) -> Verdict:
        """Of one session, as it stands now."""
        graded = grade(case.standing)
        return Verdict(graded, judged(graded, case.last_wake))


def evaluate(graded: Grade, wake: LastWake, past: Past, *, busy: bool = False) -> Evaluation:
    """Whether it may be shared, and how that moved. ``busy``: a command runs in its shell."""
    return moved(judged(graded, wake), past, busy=busy)


def moved(found: Evaluation, past: Past, *, busy: bool = False) -> Evaluation:
    """A verdict with how it moved from run to run. ``busy``: a command runs in its shell."""
    found = replace(found, promotion_ready=found.status == "pass")
    is_held = busy and found.status in _HELD_BY_A_SHELL
    if is_held:
        found = _held(found)
    trend = _trend(found, past)
    same = past.of_outcome
    step = found.next_suggested_tool
    went_round = all(one.evaluation.status != "pass" for one in same[-_WITHOUT_PASS:])
    if len(same) >= 2 and went_round and found.status != "pass" and not is_held:
        step = Step(
            tool="outcome_history",
            args={"limit": min(len(same), _MOST_TO_REREAD), **past.session},
            rationale="Several runs did not get there: see what they came to before one more.",
        )
    return replace(found, trend=trend, trend_summary=_SENTENCES[trend], next_suggested_tool=step)


def judged(graded: Grade, wake: LastWake) -> Evaluation:
    """Whether it may be shared, by this run alone."""
    status, confidence, summary = _verdict(graded, wake)
    return Evaluation(
        status=status,
        confidence=confidence,
        summary=summary,
        promotion_ready=status == "pass",
        next_suggested_tool=graded.next_suggested_tool,
    )


def _verdict(graded: Grade, wake: LastWake) -> tuple[EvaluationStatus, Confidence, str]:
    if graded.status == "missing_outcome":
        return "missing_outcome", "high", graded.summary
    if graded.status == "blocked":
        return "blocked", "high", graded.summary
    if graded.status != "done_candidate":
        return "not_ready", graded.confidence, graded.summary
    if wake.failed_tools:
        failed = ", ".join(dict.fromkeys(wake.failed_tools))
        return "fail", "high", f"All criteria seem met, and in the last run this failed: {failed}."
    if wake.not_done:
        left = ", ".join(dict.fromkeys(wake.not_done))
        said = f"All criteria seem met, but in the last run this was not done: {left}."
        return "uncertain", "low", said
    if wake.succeeded and wake.came_to_rest:
        sure = "high" if wake.has_summary else "medium"
        return "pass", sure, "All criteria are met, and the last run ended well."
    return "uncertain", "low", _STILL_RUNS


def _held(found: Evaluation) -> Evaluation:
    """Nothing is done while a command still runs."""
    return replace(
        found,
        status="not_ready",
        promotion_ready=False,
        summary="A command still runs in the shell: what comes of it is not known yet.",
        next_suggested_tool=Step(
            tool="shell_wait",
            args={"timeout_ms": WAIT_MS},
            rationale="The command that runs may change what was found.",
        ),
    )


def recorded(found: Evaluation, graded: Grade, past: Past, at: str) -> tuple[EvaluationRecord, ...]:
    """The records with one more, the oldest first; the same where there is nothing to record.

    A second one for the same run and outcome stands in place of the first.
    """
    outcome, wake_id = past.outcome, past.wake_id
    if outcome is None or wake_id is None:
        return past.records
    known = outcome_fingerprint(outcome)
    kept = [
        one for one in past.records if (one.outcome_fingerprint, one.wake_id) != (known, wake_id)
    ]
    before = [one for one in kept if one.outcome_fingerprint == known]
    record = EvaluationRecord(
        evaluated_at=at,
        wake_id=wake_id,
        iteration=before[-1].iteration + 1 if before else 0,
        outcome_title=outcome.title,
        outcome_fingerprint=known,
        grade_status=graded.status,
        evaluation=found,
    )
    again = next((one for one in past.records if one not in kept), None)
    if again is not None and replace(again, evaluated_at=at) == record:
        return past.records
    return (*kept, record)[-MOST_RECORDS:]


def refused_by_gate(
    tool: str,
    found: Evaluation,
    outcome: WantedOutcome | None,
    *,
    required: bool | None,
) -> str | None:
    """Why something may not be shared yet; None: it may. ``required``: what the call says of it;
    None: where there is an outcome, it has to be reached."""
    if not (outcome is not None if required is None else required) or found.promotion_ready:
        return None
    step = gate_step(found)
    return (
        f"{tool} requires outcome_evaluate to return status=pass; it returns"
        f" {found.status}: {found.summary} Next: {step.tool}."
    )


def gate_step(found: Evaluation, session_id: str | None = None) -> Step:
    """What to call while something may not be shared. ``session_id``: of another session."""
    session: JsonObject = {} if session_id is None else {"session_id": session_id}
    if found.trend in {"stable", "regressing"}:
        return Step(
            tool="outcome_history",
            args={"limit": _MOST_TO_REREAD, **session},
            rationale="It does not get better from run to run: see why before one more.",
        )
    return found.next_suggested_tool or Step(
        tool="outcome_evaluate", args=session, rationale="It says what is still missing."
    )


def next_outcome_step(
    found: Evaluation, outcome: WantedOutcome | None, session_id: str | None = None
) -> Step | None:
    """What the evaluator wants next; None: there is no outcome, or it is reached."""
    if outcome is None or found.promotion_ready:
        return None
    return gate_step(found, session_id)


def _trend(found: Evaluation, past: Past) -> Trend:
    """Compared with the newest record of another run."""
    before = [one for one in past.of_outcome if one.wake_id != past.wake_id]
    if not before:
        return "first_iteration"
    now, then = _points(found), _points(before[-1].evaluation)
    return "improving" if now > then else "regressing" if now < then else "stable"


def _points(found: Evaluation) -> int:
    return _POINTS[found.status] + found.promotion_ready
