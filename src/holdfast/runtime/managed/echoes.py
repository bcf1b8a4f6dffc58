"""What of a text only tells a session's outcome again, and so shows nothing of it.

Decided line by line: whatever else a text says still counts. What shows a criterion is not known
here.
"""

import re

from holdfast.contract.events import WantedOutcome
from holdfast.runtime.managed.text_score import normal, query_of

_AROUND = "\"'`.,;:!"
_WORDS = re.compile(r"[^\W\d]\w+")
"""A word has two letters at least: what is less marks a list."""
_PIECES = re.compile(r'["\n]')
"""What stands between the fields of a record."""
_TELLING = 2
"""Words of a title that is no heading of just anything."""
_LABELS = frozenset(
    {
        *("outcome", "active_outcome", "outcome_title", "wanted", "active", "goal", "target"),
        *("title", "detail", "summary", "description", "content", "success", "success_criteria"),
        *("criteria", "criterion", "met", "unmet", "todo", "pending", "null", "none", "true"),
        "false",
    }
)
"""Words that may stand around what the outcome says, and show nothing by that."""


def without_echo(text: str, outcome: WantedOutcome) -> str:
    """A text without the lines that only tell the outcome again, however they are set."""
    told = _told(outcome)
    said = normal(text)
    if not any(one in said for one in told):
        return text
    lines = _unwrapped(text, told).splitlines()
    return "\n".join(line for line in lines if not _is_echo(normal(line), told))


def without_record(text: str, outcome: WantedOutcome) -> str:
    """An answer without the lines in which a record of the outcome tells a criterion, as a plan or
    an event does: it holds the title, too, as something of its own."""
    title, criteria = _bare(outcome.title), tuple(map(_bare, outcome.success_criteria))
    said = normal(text)
    if title not in said or not any(one in said for one in criteria):
        return text
    if len(query_of(title).terms) < _TELLING or title in criteria:
        return text
    text = _unwrapped(text, criteria)
    is_record = any(_is_echo(normal(piece), (title,)) for piece in _PIECES.split(text))
    return "\n".join(
        line
        for line in text.splitlines()
        if not _tells(normal(line), criteria, title, is_record=is_record)
    )


def _tells(line: str, criteria: tuple[str, ...], title: str, *, is_record: bool) -> bool:
    """Whether a line tells a criterion beside the title."""
    rest = _without(line, criteria)
    return rest != line and (is_record or title in rest)


def _told(outcome: WantedOutcome) -> tuple[str, ...]:
    """What the outcome says, the longest first: one part may hold another."""
    detail = (outcome.detail or "").splitlines()
    parts = {normal(one).strip() for one in (outcome.title, *outcome.success_criteria, *detail)}
    bare = {part.strip(_AROUND) for part in parts}
    return tuple(sorted(filter(None, parts | bare), key=len, reverse=True))


def _bare(part: str) -> str:
    return normal(part).strip(_AROUND) or normal(part)


def _is_echo(line: str, told: tuple[str, ...]) -> bool:
    """Whether nothing is left of it but labels once what the outcome says is taken away."""
    rest = _without(line, told)
    return rest != line and _LABELS.issuperset(_WORDS.findall(rest))


def _without(line: str, told: tuple[str, ...]) -> str:
    for one in told:
        line = line.replace(one, " ")
    return line


def _unwrapped(text: str, told: tuple[str, ...]) -> str:
    """The text with what the outcome says in one line each, where it was wrapped."""
    for one in told:
        if " " in one and one in normal(text):
            words = r"\s+".join(map(re.escape, one.split()))
            text = re.sub(words, lambda found: " ".join(found[0].split()), text, flags=re.I)
    return text
