"""What is said of criteria as they are defined: which of them results can hardly ever show.

Not how a criterion is graded: that is `grading`.
"""

from collections.abc import Iterator

from holdfast.contract.events import WantedOutcome
from holdfast.runtime.managed.grading import MET
from holdfast.runtime.managed.text_score import most_by_parts, query_of

_NONE = (
    "It has no success_criteria, so it never counts as reached: define it again with some, such as"
    " 'The check prints \"3 steps\"'."
)
_INSTEAD = (
    "Quote a piece of the output that will show it, such as 'The check prints \"3 steps\"', or say"
    " it in four words or more that one answer will hold."
)


def warnings_about(outcome: WantedOutcome) -> tuple[str, ...]:
    """One for each criterion that can hardly ever be met, with what to write in its place."""
    return tuple(_warnings(outcome))


def _warnings(outcome: WantedOutcome) -> Iterator[str]:
    if not outcome.success_criteria:
        yield _NONE
    for one in outcome.success_criteria:
        points = most_by_parts(query_of(one))
        if points < MET:
            yield (
                f"{one!r} is met only by a line that says exactly this and more: its words give"
                f" {points} of the {MET} points that a criterion needs. {_INSTEAD}"
            )
