"""What is searched for when a run begins: a few short parts that tell what the run is about."""

from collections.abc import Iterator

import msgspec

from holdfast.contract.events import WantedOutcome
from holdfast.contract.outcomes import Evaluation, Grade

MOST_PARTS = 6
LONGEST_PART = 240


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is about, as far as it is known when it begins."""

    message: str | None = None
    """The last words of a person."""
    outcome: WantedOutcome | None = None
    waits_for: str | None = None
    """The tool that somebody has to decide over, or to run."""
    goes_on_with: str | None = None
    """Why it is run again, where it queued that itself."""
    grade: Grade | None = None
    evaluation: Evaluation | None = None
    summary: str | None = None
    """What the last run said at its end."""


def recall_query(about: About) -> tuple[str, ...]:
    """The parts, the most telling first; none twice."""
    flat = (" ".join(part.split())[:LONGEST_PART].strip() for part in _parts(about))
    return tuple(dict.fromkeys(part for part in flat if part))[:MOST_PARTS]


def _parts(about: About) -> Iterator[str]:
    yield about.message or ""
    if about.outcome is not None:
        yield "; ".join((about.outcome.title, *about.outcome.success_criteria))
        yield _grade_cue(about.outcome, about.grade)
        yield _evaluation_cue(about.evaluation)
    yield about.waits_for or about.goes_on_with or ""
    yield about.summary or ""


def _grade_cue(outcome: WantedOutcome, grade: Grade | None) -> str:
    """How far it is, and what is still to be shown."""
    if grade is None:
        return ""
    shown = {one.criterion for one in grade.evidence}
    left = [one for one in outcome.success_criteria if one not in shown]
    return "; ".join((grade.status, *left))


def _evaluation_cue(found: Evaluation | None) -> str:
    return "" if found is None else f"{found.status} {found.trend}: {found.summary}"
