"""What policy says to a model and to a person. Texts only."""

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from holdfast.contract.call import Prepared
from holdfast.contract.rules import Rule, Use
from holdfast.contract.truncate import cut_text
from holdfast.policy.rules import Weighed

NOBODY_TO_ASK = (
    "This call needs a person's approval and no user is present to give it. Continue without it,"
    " and say what you could not do."
)
NO_ANSWERS = (
    "No user is present to answer questions. Proceed on your best assumption and say what it was."
)

PLAINER = (
    "What is in doubt is all that is in question: write the call without it, each value and name as"
    " it is, and it is judged by what it says."
)
"""For a model that nobody can help: how it gets on by itself."""

_MOST_QUESTIONS = 10
LONGEST_PERMISSION = 60
_LONGEST_PATTERN = 300
LONGEST_REASON = 500
LONGEST_SOURCE = 300
"""How much of a rule is told. Its file may be a stranger's, and a model reads what is told."""


def always_asked(prepared: Prepared) -> list[str]:
    """Why a tool asks that always does, and what a person has to see who answers."""
    tool = prepared.tool
    does = "runs" if tool.asks_for is None else "does this"
    said = [f"Tool '{tool.name}' always asks before it {does}."]
    if prepared.arguments.get("require_outcome_pass") is False:
        said.append(
            "It is to run whether or not the session's outcome is reached: the gate on it is"
            " overridden (require_outcome_pass = false)."
        )
    return said


def denied(tool: str, weighed: Weighed) -> str:
    """A rule refuses the call."""
    rule = cast("Rule", weighed.rule)  # silence asks or allows; only a rule denies
    why = f" {one_line(rule.reason, LONGEST_REASON)}" if rule.reason else ""
    named = cited(rule)
    return (
        f"Execution denied by policy for tool: {tool}. {named[0].upper()}{named[1:]} denies"
        f" {described(weighed.use)}.{why}"
    )


def come_upon(weighed: Weighed) -> str:
    """A rule speaks against what a call came upon."""
    rule = cast("Rule", weighed.rule)
    named = cited(rule)
    begun = f"{named[0].upper()}{named[1:]}"
    if weighed.action == "deny":
        why = f" {one_line(rule.reason, LONGEST_REASON)}" if rule.reason else ""
        return f"{begun} denies {described(weighed.use)}.{why}"
    return (
        f"{begun} says to ask about {described(weighed.use)}, and no call asks while it runs: name"
        f" {weighed.use.target!r} in a call of its own."
    )


def refused(tool: str, reason: str) -> str:
    """A capability or a hook refuses the call."""
    return f"Execution denied by policy for tool: {tool}. {reason}"


def user_denied(tool: str, note: str | None) -> str:
    """A person refuses the call."""
    said = f": {note.rstrip('.')}." if note else "."
    return f"User denied execution for tool: {tool}{said} The call was rejected and did not run."


def confirmation_denied(tool: str, note: str | None) -> str:
    """A person refuses a call of a tool that always asks."""
    said = f": {note}" if note else "."
    return f"The user denied confirmation for {tool}{said}"


def questions(tool: str, asked: Sequence[Weighed]) -> list[str]:
    """Why a person is asked: each reason once, with a few of what it is about."""
    told: dict[tuple[str, str], list[str]] = {}
    doubts: dict[str, None] = {}
    for one in asked[:_MOST_QUESTIONS]:
        if one.use.doubt is not None:
            doubts[f"{described(one.use)} cannot be judged: {one.use.doubt}"] = None
        else:
            rule = one.rule
            why = "no rule speaks of" if rule is None else f"{cited(rule)} says to ask about"
            because = "" if rule is None else _own_reason(rule)
            told.setdefault((why, because), []).append(described(one.use))
    ruled = [
        f"{why} {', '.join(dict.fromkeys(uses))}{because}" for (why, because), uses in told.items()
    ]
    reasons = [*ruled, *doubts]
    left = len(asked) - _MOST_QUESTIONS
    more = [f"{left} more are in question."] if left > 0 else []
    return [*(f"Tool '{tool}': {reason}." for reason in reasons), *more]


def _own_reason(rule: Rule) -> str:
    """What a rule says of itself, behind what it asks about."""
    said = one_line(rule.reason or "", LONGEST_REASON).rstrip(".")
    return f": {said}" if said else ""


def confined(setting: str) -> str:
    """Who is asked about doubts need not be: what to write, and what that means."""
    return (
        f"{setting} in your configuration lets commands in doubt run unasked: the kernel holds what"
        " they reach, whatever they turn out to be."
    )


def described(use: Use) -> str:
    """What is done, in a few words."""
    if use.capability is None:
        return "running it" if not use.target else f"running it on {use.target!r}"
    return f"{use.capability} on {use.target!r}" if use.target else use.capability


def one_line(text: str, most: int) -> str:
    """Foreign text inside of ours: one line of printable characters, no longer than that."""
    flat = " ".join(text[: 4 * most].split())
    shown = "".join([one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in flat])
    return cut_text(shown, most)


@lru_cache(maxsize=1024)
def cited(rule: Rule) -> str:
    """A rule as a person finds it again."""
    kind = "the remembered answer" if rule.remembered else f"the {rule.scope} rule"
    permission = one_line(rule.permission, LONGEST_PERMISSION)
    pattern = one_line(repr(rule.pattern), _LONGEST_PATTERN)
    return f"{kind} {permission} {pattern} ({one_line(rule.source, LONGEST_SOURCE)})"


@lru_cache(maxsize=1024)
def grounds(deciding: tuple[Rule | None, ...], vouched: tuple[str | None, ...]) -> str:
    """Why a call is allowed: the rules that decided, each once, or who vouches for the tool."""
    rules = dict.fromkeys([cited(rule) for rule in deciding if rule is not None])
    if rules:
        return f"allowed by {', '.join(rules)}"
    named = dict.fromkeys([who for who in vouched if who])
    said = "no rule speaks against it"
    return f"{said}: {', '.join(named)}" if named else said
