"""Why a call is allowed, asked about or refused: the same decision, told step by step.

It decides nothing: it reads what the judge found out and puts it in words.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from holdfast.contract.call import Ask, Permit, Prepared, Verdict
from holdfast.contract.rules import Action, Rule, Use
from holdfast.contract.tool import PERSON_NAMES
from holdfast.policy.globs import escaped
from holdfast.policy.grants import exact_pattern
from holdfast.policy.powers import Considered, Looked
from holdfast.policy.rules import Weighed, strictest
from holdfast.policy.toml_string import pattern_string, toml_string
from holdfast.policy.words import LONGEST_PERMISSION, LONGEST_REASON, LONGEST_SOURCE, one_line

Stage = Literal["capabilities", "rules", "watchdog", "tool"]
"""Which of the layers decided."""


class RuleCited(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that fits, as it is shown."""

    permission: str
    pattern: str
    action: Action
    scope: str
    source: str
    reason: str | None = None
    remembered: bool = False


class UseExplained(msgspec.Struct, frozen=True, kw_only=True):
    """What was found out about one use."""

    capability: str | None
    target: str
    spellings: tuple[str, ...]
    doubt: str | None
    within_reach: bool
    verdict: Action | None
    """None: it was not judged, because another one is out of reach."""
    decided_by: RuleCited | None
    also_fitting: tuple[RuleCited, ...]
    otherwise: str | None
    """What would have decided differently."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """The whole decision."""

    tool: str
    verdict: Action
    """Where a person is present."""
    unattended: Action
    """Where nobody is there: an ask is a deny, and so is a tool that talks to a person."""
    stage: Stage
    reason: str
    uses: tuple[UseExplained, ...]


def explained(
    prepared: Prepared, considered: Considered, verdict: Verdict, lifted: Sequence[bool]
) -> Explanation:
    """Tell the decision from what the judge considered and concluded.

    For each use it is told whether one more allow that fits exactly would change it.
    """
    action: Action = "deny"
    if isinstance(verdict, Permit):
        action = "allow"
    elif isinstance(verdict, Ask):
        action = "ask"
    tool = prepared.tool
    weighed = considered.weighed or [None] * len(considered.looked)
    return Explanation(
        tool=tool.name,
        verdict=action,
        unattended="deny" if action == "ask" or tool.name in PERSON_NAMES else action,
        stage=_stage(prepared, considered, action),
        reason=verdict.grounds if isinstance(verdict, Permit) else verdict.reason,
        uses=tuple(
            _of_use(tool.name, looked, one, lifted=would_lift)
            for looked, one, would_lift in zip(considered.looked, weighed, lifted, strict=True)
        ),
    )


def _stage(prepared: Prepared, considered: Considered, action: Action) -> Stage:
    if considered.refusal is not None:
        return "capabilities"
    if strictest(considered.weighed).action == action:
        return "rules"
    always_asks = prepared.tool.always_asks(prepared.arguments)
    return "tool" if always_asks and action == "ask" else "watchdog"


def _of_use(tool: str, looked: Looked, weighed: Weighed | None, *, lifted: bool) -> UseExplained:
    use = looked.use
    decided = None if weighed is None else weighed.rule
    verdict: Action | None = "deny" if looked.refusal is not None else None
    if weighed is not None:
        verdict = weighed.action
    return UseExplained(
        capability=use.capability,
        target=use.target,
        spellings=use.spellings,
        doubt=use.doubt,
        within_reach=looked.refusal is None,
        verdict=verdict,
        decided_by=None if decided is None else cited(decided),
        also_fitting=() if weighed is None else tuple(map(cited, weighed.others)),
        otherwise=_otherwise(tool, looked, weighed, lifted=lifted),
    )


def _otherwise(tool: str, looked: Looked, weighed: Weighed | None, *, lifted: bool) -> str | None:
    if looked.refusal is not None:
        return looked.refusal
    if weighed is None or weighed.action == "allow":
        return _narrower(weighed)
    decided, use = weighed.rule, weighed.use
    if decided is not None and decided.action == "deny" and decided.scope == "manifest":
        return f"Nothing lifts a deny of the manifest; only {decided.source} can be changed."
    if use.doubt is not None:
        return "A command that can be taken apart: write it without what is in doubt."
    if lifted:
        return f"A rule that fits exactly: {_rule_text(exact_allow(tool, use))}."
    if decided is None:
        return "No allow rule of this agent lifts it."
    if decided.remembered:
        return "No allow rule lifts it; the answer ends with the session."
    return (
        f"No allow rule lifts it; only {one_line(decided.source, LONGEST_SOURCE)} can be changed."
    )


def _narrower(weighed: Weighed | None) -> str | None:
    stricter = [] if weighed is None else [one for one in weighed.others if one.action != "allow"]
    if not stricter:
        return None
    other = stricter[0]
    return (
        f"Without it, {other.permission} {other.pattern!r} ({other.source}) would {other.action}."
    )


def exact_allow(tool: str, use: Use) -> Rule:
    """The allow that fits this use of this tool and nothing else."""
    return Rule(
        permission=escaped(tool),
        pattern=exact_pattern(use),
        action="allow",
        scope="project",
        source="a rule that is not there",
    )


def _rule_text(rule: Rule) -> str:
    permission, pattern = toml_string(rule.permission), pattern_string(rule.pattern)
    return f"permission = {permission}, pattern = {pattern}, action = 'allow'"


def cited(rule: Rule) -> RuleCited:
    """The rule as it is shown."""
    return RuleCited(
        permission=one_line(rule.permission, LONGEST_PERMISSION),
        pattern=rule.pattern,
        action=rule.action,
        scope=rule.scope,
        source=one_line(rule.source, LONGEST_SOURCE),
        reason=None if rule.reason is None else one_line(rule.reason, LONGEST_REASON),
        remembered=rule.remembered,
    )
