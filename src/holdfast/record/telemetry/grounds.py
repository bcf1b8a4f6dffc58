"""Who decided over a call, read out of the words that stand in the journal.

The words of a rule that a person wrote are configuration. Those of a remembered answer hold what a
call did, and those of an approval who approved: both are told only where content is.
"""

import re
from typing import NamedTuple

_RULE = re.compile(r"allowed by the ((manifest|session|project) rule .+)", re.DOTALL)
_QUESTION = re.compile(
    r"Tool '[^']*': (?:the ((manifest|session|project) rule .+?\)) says to ask about "
    r"|(no rule speaks of) )",
    re.DOTALL,
)
_DENIAL = re.compile(
    r"Execution denied by policy for tool: .*?\."
    r" The ((?:(manifest|session|project) rule|remembered answer) .+?\)) denies ",
    re.DOTALL,
)
_REMEMBERED = "the remembered answer"


class Decided(NamedTuple):
    """By whom, in few words; and which words of configuration say so."""

    source: str
    rule: str | None = None


def allowed_by(grounds: str) -> Decided:
    """Who let a call run."""
    if grounds.startswith("approved by "):
        return Decided("person")
    if _REMEMBERED in grounds:
        return Decided("remembered answer")
    found = _RULE.fullmatch(grounds)
    if found is not None:
        return Decided(f"{found.group(2)} rule", found.group(1))
    return Decided("standing", grounds)


def asked_by(reason: str) -> Decided:
    """Who wants a person to decide."""
    found = _QUESTION.search(reason)
    if found is None:
        return Decided("policy")
    if found.group(2) is None:
        return Decided("no rule")
    return Decided(f"{found.group(2)} rule", found.group(1))


def denied_by(kind: str, reason: str) -> Decided:
    """Who refused a call."""
    if kind == "user_denied":
        return Decided("person")
    found = _DENIAL.match(reason)
    if found is None:
        return Decided("policy")
    if found.group(2) is None:
        return Decided("remembered answer")
    return Decided(f"{found.group(2)} rule", found.group(1))
