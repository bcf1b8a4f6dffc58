"""What is remembered of a person's answer: exactly the targets that were in question.

A glob character in a target is kept as plain text, so no path or command widens its own permission.
Beside them, where the person was shown it and said so: every command that begins the same way, or
every file of the workspace that this tool names.
"""

from collections.abc import Sequence
from datetime import datetime

from holdfast.contract.call import Ask
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Rule, Use
from holdfast.policy.globs import escaped

MOST_REMEMBERED = 20
"""How many grants one answer makes at most: a person who is asked about more has not read them."""
_LONGEST_TARGET = 1_000


def remembers(uses: Sequence[Use]) -> bool:
    """Whether an answer about these could be found again: doubtful or endless targets cannot."""
    if len(uses) > MOST_REMEMBERED:
        return False
    forms = [form for use in uses for form in (use.target, *use.spellings)]
    known = all(use.doubt is None for use in uses)
    return known and all(len(form) <= _LONGEST_TARGET and _is_text(form) for form in forms)


def _is_text(form: str) -> bool:
    """Whether it can be written down: a file name may hold bytes that are no characters."""
    return form.isascii() or form.encode("utf-8", "replace").decode() == form


def granted_by(ask: Ask, answer: Answer, at: datetime) -> Sequence[Rule]:
    """The rules that keep this answer; none for one that holds just once."""
    if answer.remember == "once":
        return ()
    kept = [(use.capability, exact_pattern(use)) for use in ask.uses]
    if answer.wider and answer.allowed:
        kept += [(capability, one) for one in ask.wider for capability in _widened(ask.uses)]
    project = answer.remember == "project" and answer.allowed
    return [
        Rule(
            # A server may give another tool the same name here, never the same alias.
            permission=escaped(ask.prepared.tool.alias or ask.prepared.tool.name),
            pattern=pattern,
            capability=capability,
            action="allow" if answer.allowed else "deny",
            scope="project" if project else "session",
            source=f"answer of {answer.by}",
            added_at=at,
            remembered=True,
        )
        for capability, pattern in kept
    ]


def _widened(uses: Sequence[Use]) -> Sequence[str | None]:
    """What a wider pattern is about: commands, where there are any, and otherwise files."""
    if any(use.kind == "command" for use in uses):
        return ("shell.run",)
    return tuple(dict.fromkeys(use.capability for use in uses))


def exact_pattern(use: Use) -> str:
    """The pattern of this target; of a path, in each of its forms."""
    forms = dict.fromkeys((use.target, *(use.spellings if use.kind == "path" else ())))
    patterns = [escaped(form) for form in forms]
    return patterns[0] if len(patterns) == 1 else "{" + ",".join(patterns) + "}"
