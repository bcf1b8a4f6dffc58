"""What is remembered of a person's answer: exactly the targets that were in question.

A glob character in a target is kept as plain text, so no path or command widens its own permission.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from holdfast.contract.call import Ask
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Rule, Use
from holdfast.policy.globs import escaped

_LONGEST_TARGET = 1_000


def remembers(uses: Iterable[Use]) -> bool:
    """Whether an answer about these could be found again: doubtful or endless targets cannot."""
    return all(use.doubt is None and len(use.target) <= _LONGEST_TARGET for use in uses)


def granted_by(ask: Ask, answer: Answer, at: datetime) -> Sequence[Rule]:
    """The rules that keep this answer; none for one that holds just once."""
    if answer.remember == "once":
        return ()
    project = answer.remember == "project" and answer.allowed
    return [
        Rule(
            permission=ask.prepared.tool.name,
            pattern=_exactly(use),
            action="allow" if answer.allowed else "deny",
            scope="project" if project else "session",
            source=f"answer of {answer.by}",
            added_at=at,
            remembered=True,
        )
        for use in ask.uses
    ]


def _exactly(use: Use) -> str:
    """The pattern of this target; of a path, in each of its forms."""
    forms = dict.fromkeys((use.target, *(use.spellings if use.kind == "path" else ())))
    patterns = [escaped(form) for form in forms]
    return patterns[0] if len(patterns) == 1 else "{" + ",".join(patterns) + "}"
