"""How far a session came with its outcome, by what its events show. No model is asked.

A criterion is met when a text fits it well enough that tells of what happened; a text that tells
the outcome again shows nothing. Where the texts come from is not known here.
"""

from collections.abc import Iterable, Sequence

from holdfast.contract.events import WantedOutcome
from holdfast.contract.json_value import JsonObject
from holdfast.contract.outcomes import (
    Confidence,
    Evidence,
    Grade,
    GradeStatus,
    Shown,
    Standing,
)
from holdfast.contract.steps import Step
from holdfast.runtime.managed.text_score import normal, query_of, score, snippet

MET = 4
"""A text that fits a criterion so well shows that it is met."""
_UNTITLED = "What this session is to achieve"
_HOW: dict[GradeStatus, str] = {
    "sleeping": "It goes on later",
    "done_candidate": "It rests",
    "in_progress": "It is under way",
}
_BULLETS = "-*+•·>[](){}.0123456789 \t"


def grade(standing: Standing) -> Grade:
    """The first of these that is so: there is no outcome, it is blocked, it sleeps, all criteria
    are met and it rests, it is under way."""
    outcome = standing.outcome
    if outcome is None:
        return _missing(standing)
    shown = _shown(outcome, standing.evidence)
    wanted = len(outcome.success_criteria)
    status = _status(standing, is_met=bool(shown) and len(shown) == wanted)
    how = _HOW[status] if status != "blocked" else f"It waits for {_waited_for(standing)}"
    return Grade(
        status=status,
        confidence=_confidence(status, shown),
        summary=f"{how}; {len(shown)} of {wanted} criteria are met.",
        matched_criteria=len(shown),
        total_criteria=wanted,
        evidence=shown,
        next_suggested_tool=_leading_on(standing, status),
    )


def _status(standing: Standing, *, is_met: bool) -> GradeStatus:
    if standing.pending is not None or standing.stop_reason == "requires_action":
        return "blocked"
    if standing.sleeps:
        return "sleeping"
    rests = standing.stop_reason == "idle" and _has_output(standing.evidence)
    return "done_candidate" if is_met and rests else "in_progress"


def _confidence(status: GradeStatus, shown: tuple[Shown, ...]) -> Confidence:
    if status == "blocked":
        return "high"
    return "medium" if shown or status == "sleeping" else "low"


def _leading_on(standing: Standing, status: GradeStatus) -> Step:
    if status == "blocked":
        return _past_the_block(standing)
    if status == "sleeping":
        return Step(
            tool="session_get_snapshot",
            args=_of(standing),
            rationale="It shows when the session goes on, and with what.",
        )
    return _reread(standing)


def without_echo(text: str, outcome: WantedOutcome) -> str:
    """A text without the lines that only tell the outcome again."""
    told = {normal(one).strip(_BULLETS) for one in _told(outcome)}
    lines = text.splitlines()
    return "\n".join(line for line in lines if normal(line).strip(_BULLETS) not in told)


def _told(outcome: WantedOutcome) -> Iterable[str]:
    yield outcome.title
    yield from outcome.success_criteria
    yield from (outcome.detail or "").splitlines()


def _shown(outcome: WantedOutcome, evidence: Sequence[Evidence]) -> tuple[Shown, ...]:
    """What shows each criterion best; the first of those that show it equally well."""
    texts = [(one, without_echo(one.text, outcome)) for one in evidence]
    found: list[Shown] = []
    for criterion in outcome.success_criteria:
        query = query_of(criterion)
        scored = [(score(query, text).points, one, text) for one, text in texts]
        points, best, text = max(scored, key=lambda told: told[0], default=(0, None, ""))
        if best is not None and points >= MET:
            found.append(
                Shown(
                    criterion=criterion,
                    score=points,
                    kind=best.kind,
                    excerpt=snippet(query, text),
                    event_id=best.event_id,
                )
            )
    return tuple(found)


def _has_output(evidence: Sequence[Evidence]) -> bool:
    """Whether anything was done that a tool has answered: words alone show nothing."""
    return any(one.kind == "output" and one.event_id is not None for one in evidence)


def _missing(standing: Standing) -> Grade:
    title = (standing.title or "").strip() or _UNTITLED
    return Grade(
        status="missing_outcome",
        confidence="high",
        summary="No outcome is defined.",
        next_suggested_tool=Step(
            tool="outcome_define",
            args={"title": title, **_of(standing)},
            rationale="Without an outcome nothing says when the work is done.",
        ),
    )


def _waited_for(standing: Standing) -> str:
    pending = standing.pending
    if pending is None:
        return "somebody"
    if pending.kind == "custom_tool":
        return f"the application, which has to run {pending.tool_name}"
    return f"a person, who has to confirm {pending.tool_name}"


def _past_the_block(standing: Standing) -> Step:
    pending = standing.pending
    if pending is None:
        return Step(
            tool="permissions_describe", rationale="It shows what waits, and what can be done."
        )
    if pending.instead is not None:
        return pending.instead
    if pending.kind == "custom_tool":
        return Step(
            tool="session_get_snapshot",
            args=_of(standing),
            rationale=f"It shows what {pending.tool_name} is asked for.",
        )
    return Step(
        tool="permissions_check",
        args={"tool_name": pending.tool_name},
        rationale=f"It shows what {pending.tool_name} waits for, and what would read the same.",
    )


def _reread(standing: Standing) -> Step:
    if standing.last_wake_id is None:
        return Step(
            tool="session_get_snapshot",
            args=_of(standing),
            rationale="No run has been made yet; it shows where the session stands.",
        )
    return Step(
        tool="session_get_trace",
        args={"wake_id": standing.last_wake_id, **_of(standing)},
        rationale="What the last run really did stands there, step by step.",
    )


def _of(standing: Standing) -> JsonObject:
    return {} if standing.session_id is None else {"session_id": standing.session_id}
