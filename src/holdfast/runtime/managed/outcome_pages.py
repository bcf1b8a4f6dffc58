"""How far a session came, as short pages a person or a model reads. Pure: values in, text out."""

from collections.abc import Iterable, Iterator, Sequence

from holdfast.contract.events import WantedOutcome
from holdfast.contract.json_value import encode_json
from holdfast.contract.outcomes import Evaluation, EvaluationRecord, Grade
from holdfast.contract.steps import Step


def grade_page(outcome: WantedOutcome | None, found: Grade) -> str:
    """A grade, with what shows each criterion."""
    lines = [
        "# Outcome grade",
        "",
        f"- Outcome: {_named(outcome)}",
        f"- Status: {found.status} (confidence {found.confidence})",
        f"- Criteria met: {found.matched_criteria} of {found.total_criteria}",
        f"- {flat(found.summary)}",
        *_next(found.next_suggested_tool),
    ]
    if found.evidence:
        lines += ["", "## Evidence", ""]
        lines += [
            f"- {flat(one.criterion)}: {one.kind} {one.event_id or ''}".rstrip()
            + f": {flat(one.excerpt)}"
            for one in found.evidence
        ]
    return _page(lines)


def evaluation_page(outcome: WantedOutcome | None, found: Evaluation) -> str:
    """A verdict, and how it moves."""
    return _page(
        [
            "# Outcome evaluation",
            "",
            f"- Outcome: {_named(outcome)}",
            f"- Status: {found.status} (confidence {found.confidence})",
            f"- Promotion ready: {'yes' if found.promotion_ready else 'no'}",
            f"- {flat(found.summary)}",
            f"- Trend: {found.trend}. {flat(found.trend_summary)}",
            *_next(found.next_suggested_tool),
        ]
    )


def history_page(records: Sequence[EvaluationRecord]) -> str:
    """What the runs came to, the newest first."""
    lines = ["# Outcome evaluations", ""]
    if not records:
        return _page([*lines, "No run has been evaluated."])
    lines += [
        "| iteration | run | at | grade | verdict | trend | outcome |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [f"| {' | '.join(map(_cell, _columns(one)))} |" for one in reversed(records)]
    return _page(lines)


def repair_page(outcome: WantedOutcome | None, graded: Grade, found: Evaluation) -> str:
    """What stands between a session and its outcome, and what to call about it."""
    lines = ["# Outcome repair", ""]
    if found.promotion_ready:
        return _page([*lines, "Nothing is to be repaired: the outcome is reached."])
    lines += [f"- {graded.status}: {flat(graded.summary)}"]
    if found.summary != graded.summary:
        lines += [f"- {found.status}: {flat(found.summary)}"]
    if outcome is not None:
        shown = {one.criterion for one in graded.evidence}
        open_ones = [one for one in outcome.success_criteria if one not in shown]
        lines += [f"- Unmet: {flat(one)}" for one in open_ones]
        if not outcome.success_criteria:
            lines += ["- It has no criteria, so it never counts as reached: define it with some."]
    return _page([*lines, *_next(found.next_suggested_tool)])


def step_line(step: Step) -> str:
    """A step in one line."""
    return f"`{step.tool}` {encode_json(step.args).decode()}: {flat(step.rationale)}"


def flat(text: str) -> str:
    """A text in one line."""
    return " ".join(text.split())


def _named(outcome: WantedOutcome | None) -> str:
    return "none is defined" if outcome is None else flat(outcome.title)


def _next(step: Step | None) -> Iterator[str]:
    if step is not None:
        yield f"- Next: {step_line(step)}"


def _columns(one: EvaluationRecord) -> tuple[str, ...]:
    found = one.evaluation
    return (
        *(str(one.iteration), one.wake_id, one.evaluated_at, one.grade_status),
        *(found.status, found.trend, one.outcome_title),
    )


def _cell(text: str) -> str:
    return flat(text).replace("|", "\\|")


def _page(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"
