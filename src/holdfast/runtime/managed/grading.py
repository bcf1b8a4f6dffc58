"""How far a session came with its outcome, by what its events show. No model is asked.

A criterion is met when a text fits it well enough that tells of what happened; a text that tells
the outcome again shows nothing. Where the texts come from is not known here.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

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
from holdfast.runtime.managed.echoes import without_echo, without_record
from holdfast.runtime.managed.text_score import normal, query_of, score_said, snippet, speaks_of

MET = 4
"""A text that fits a criterion so well shows that it is met."""
_UNTITLED = "What this session is to achieve"
_HOW: dict[GradeStatus, str] = {
    "sleeping": "It goes on later",
    "done_candidate": "It rests",
    "in_progress": "It is under way",
}


class _Said(NamedTuple):
    """A text that may show something, without what only tells the outcome again."""

    evidence: Evidence
    text: str
    normal: str


def grade(standing: Standing) -> Grade:
    """The first of these that is so: there is no outcome, it is blocked, it sleeps, all criteria
    are met and it rests, it is under way."""
    outcome = standing.outcome
    if outcome is None:
        return _missing(standing)
    texts = tuple(_said(outcome, standing.evidence))
    shown = _shown(outcome, texts)
    wanted = len(outcome.success_criteria)
    is_met = bool(shown) and len(shown) == wanted and _is_backed(outcome, texts)
    status = _status(standing, is_met=is_met)
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
    return "done_candidate" if is_met and standing.stop_reason == "idle" else "in_progress"


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


def _shown(outcome: WantedOutcome, texts: Sequence[_Said]) -> tuple[Shown, ...]:
    """What shows each criterion best; the first of those that show it equally well."""
    found: list[Shown] = []
    for criterion in outcome.success_criteria:
        query = query_of(criterion)
        scored = ((score_said(query, one.normal).points, one) for one in texts)
        points, best = max(scored, key=lambda told: told[0], default=(0, None))
        if best is not None and points >= MET:
            found.append(
                Shown(
                    criterion=criterion,
                    score=points,
                    kind=best.evidence.kind,
                    excerpt=snippet(query, best.text),
                    event_id=best.evidence.event_id,
                )
            )
    return tuple(found)


def _said(outcome: WantedOutcome, evidence: Iterable[Evidence]) -> Iterator[_Said]:
    """What the texts say beside the outcome itself; those that say nothing else are left out."""
    for one in evidence:
        told = one.text
        if one.kind == "output":  # a record of the outcome may be read anywhere
            told = without_record(told, outcome)
        text = without_echo(told, outcome)
        if text.strip():
            yield _Said(one, text, normal(text))


def _is_backed(outcome: WantedOutcome, texts: Iterable[_Said]) -> bool:
    """Whether a tool has answered anything that speaks of a criterion: words alone show nothing."""
    queries = [query_of(one) for one in outcome.success_criteria]
    outputs = [one for one in texts if one.evidence.kind == "output" and one.evidence.event_id]
    return any(speaks_of(query, one.normal) for query in queries for one in outputs)


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
