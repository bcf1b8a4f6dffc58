"""Weighing rules: which of all that speak of a use decides, and why.

The most specific rule decides, the order of a list does not. A deny of the manifest is final; a
remembered answer never outranks a deny; what nobody speaks of is asked. Judging a whole call, with
its several uses, is `judge`'s work.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias, cast

import msgspec

from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.rules import Action, Rule, RuleScope, TargetKind, Use
from holdfast.policy.globs import GlobProblem, compile_glob, plain_text, specificity, written_out
from holdfast.policy.host_rules import fits_host, spelled_hosts
from holdfast.policy.shell.canonical import canonical_pattern
from holdfast.policy.targets import KINDS, never_fits, never_used

STRICTNESS: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}
_SCOPES: dict[RuleScope, int] = {"manifest": 0, "project": 1, "session": 2}
_BY_NAME, _BY_CAPABILITY, _BY_GLOB, _BY_STAR = 3, 2, 1, 0

Weight: TypeAlias = tuple[tuple[int, int, int], int, int, int]
"""Pattern, permission, scope, strictness: compared in this order, the greater decides."""


class ToolNames(msgspec.Struct, frozen=True):
    """What a rule may call a tool."""

    name: str
    alias: str | None = None
    """``mcp:<server>:<tool>``, for a tool of a server."""


class Weighed(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules say of one use."""

    use: Use
    action: Action
    rule: Rule | None
    """The one that decided; None when none spoke of it."""
    others: tuple[Rule, ...] = ()
    """The rules that also fit, the strongest first."""
    vouched: str | None = None
    """Who vouches for the tool where no rule speaks."""


class RuleBook:
    """Rules that are weighed against each other."""

    def __init__(self, rules: Iterable[Rule], *, silence: Action = "ask") -> None:
        """Silence is what is said of a use that no rule speaks of."""
        rules = list(rules)
        for rule in rules:
            check_rule(rule)
        self.rules = tuple({_place(rule): rule for rule in rules}.values())
        self._silence: Action = silence
        self._plain: dict[str, list[Rule]] = {}
        self._globs: list[tuple[Rule, Callable[[str], bool]]] = []
        self._spoken: dict[tuple[ToolNames, str | None], list[Rule]] = {}
        self._star = [rule for rule in self.rules if rule.permission == "*"]
        for rule in self.rules:
            name = plain_text(rule.permission)
            if name is not None:
                self._plain.setdefault(name, []).append(rule)
            elif rule.permission != "*":
                self._globs.append((rule, compile_glob(rule.permission, "text")))

    def weigh(self, names: ToolNames, use: Use) -> Weighed:
        """Let the strongest rule that fits decide."""
        about = self.about(names, use.capability)
        fitting = [rule for rule in about if _fits(rule, use)]
        if len(fitting) == 1 and fitting[0].scope != "manifest":
            return Weighed(use=use, action=fitting[0].action, rule=fitting[0])
        action, decisive = self._decide(fitting)
        others = tuple([rule for rule in fitting if rule is not decisive])
        return Weighed(use=use, action=action, rule=decisive, others=others)

    def about(self, names: ToolNames, capability: str | None) -> list[Rule]:
        """The rules that speak of this tool and capability, the strongest first."""
        known = self._spoken.get((names, capability))
        if known is not None:
            return known
        kind = KINDS.get(capability or "")
        ranked = {
            id(rule): (_weight(rule, rank, kind), rule)
            for rule, rank in self._ranked(names, capability)
        }
        strongest = sorted(ranked.values(), key=lambda entry: entry[0], reverse=True)
        found = self._spoken[names, capability] = [rule for _, rule in strongest]
        return found

    def _ranked(self, names: ToolNames, capability: str | None) -> Iterable[tuple[Rule, int]]:
        """Each rule with how closely it names the call; of several ranks, the closest last."""
        spoken = [names.name, names.alias or names.name, capability or names.name]
        for rule in self._star:
            yield rule, _BY_STAR
        for rule, fits in self._globs:
            if any(map(fits, spoken)):
                yield rule, _BY_GLOB
        if capability is not None:
            for rule in self._plain.get(capability, ()):
                yield rule, _BY_CAPABILITY
        for name in spoken[:2]:
            for rule in self._plain.get(name, ()):
                yield rule, _BY_NAME

    def _decide(self, fitting: list[Rule]) -> tuple[Action, Rule | None]:
        manifest = next((rule for rule in fitting if rule.scope == "manifest"), None)
        if manifest is not None and manifest.action == "deny":
            return "deny", manifest
        denied = any(rule.action == "deny" for rule in fitting)
        decisive = next((rule for rule in fitting if not (denied and _is_grant(rule))), None)
        if decisive is None:
            return self._silence, None
        if decisive.action == "allow" and decisive.scope != "manifest":
            pinned = next((rule for rule in fitting if rule.pinned), None)
            if pinned is not None:
                return "ask", pinned
        return decisive.action, decisive


_LINE = late_pattern(r":\d+\Z")


def _place(rule: Rule) -> tuple[object, ...]:
    """Where a rule stands: a later one in the same place replaces it.

    What two files say of the same is weighed, so that none takes back what the other forbids.
    """
    origin = _LINE.sub("", rule.source)
    return rule.scope, rule.permission, rule.pattern, rule.capability, rule.remembered, origin


class RuleProblem(ValueError):
    """A rule that cannot be weighed; the message names it."""


def check_rule(rule: Rule) -> None:
    """Raise RuleProblem for what no file could say: one made in code is as it was put together."""
    if not isinstance(cast("object", rule), Rule):
        raise RuleProblem(f"{rule!r} is no Rule; write Rule(permission=..., pattern=..., ...)")
    try:
        msgspec.convert(msgspec.structs.asdict(rule), Rule)
    except msgspec.ValidationError as problem:
        raise RuleProblem(f"a rule made in code is wrong: {problem}") from None
    unused = never_used(rule.permission)
    if unused is not None:
        raise RuleProblem(f"{rule.source}: {unused}")
    try:
        check_patterns(rule)
    except GlobProblem as problem:
        raise RuleProblem(f"{rule.source}: rule {rule.permission[:60]!r}: {problem}") from None
    # A remembered target is what a call named, whatever that was.
    never = None if rule.remembered else never_fits(rule.permission, rule.pattern)
    if never is not None:
        raise RuleProblem(f"{rule.source}: rule {rule.permission[:60]!r}: {never}")


def check_patterns(rule: Rule) -> None:
    """Raise GlobProblem for what is too large to compare, in any spelling it is compared in."""
    _check_spellings(rule.permission, rule.pattern)


@lru_cache(maxsize=4096)
def _check_spellings(permission: str, pattern: str) -> None:
    # Once for each: every question is weighed with all rules and what an answer would add to them.
    specificity(permission)
    specificity(pattern)
    for spelled in (*_canonical_patterns(pattern), *spelled_hosts(pattern)):
        specificity(spelled)


def strictest(weighed: Sequence[Weighed]) -> Weighed:
    """The one of several, at least one, that counts for all of them."""
    if len(weighed) == 1:
        return weighed[0]
    return max(weighed, key=lambda one: STRICTNESS[one.action])


def _is_grant(rule: Rule) -> bool:
    return rule.remembered and rule.action == "allow"


def _weight(rule: Rule, permission_rank: int, kind: TargetKind | None) -> Weight:
    return (
        _specificity(rule.pattern, kind),
        permission_rank,
        _SCOPES[rule.scope],
        STRICTNESS[rule.action],
    )


def _fits(rule: Rule, use: Use) -> bool:
    """An allow has to cover every form of the target; anything stricter counts for each of them."""
    if rule.capability is not None and rule.capability != use.capability:
        return False
    if use.kind == "host":
        allows = rule.action == "allow"
        return not (allows and use.doubt) and fits_host(rule.pattern, use, any_port=not allows)
    as_written = _matcher(rule.pattern, use.kind)
    if rule.action == "allow":
        if use.doubt is not None or not as_written(use.target):
            return False
        return not use.spellings or use.kind == "command" or all(map(as_written, use.spellings))
    if as_written(use.target):
        return True
    others = _canonical_matcher(rule.pattern) if use.kind == "command" else as_written
    return any(map(others, use.spellings))


@lru_cache(maxsize=4096)
def _specificity(pattern: str, kind: TargetKind | None) -> tuple[int, int, int]:
    # Of two spellings of one host none is more specific.
    return min(map(specificity, spelled_hosts(pattern) if kind == "host" else (pattern,)))


@lru_cache(maxsize=4096)
def _matcher(pattern: str, kind: TargetKind) -> Callable[[str], bool]:
    if pattern and not pattern.strip("*"):
        return _anything
    return compile_glob(pattern, "path" if kind == "path" else "text")


@lru_cache(maxsize=4096)
def _canonical_matcher(pattern: str) -> Callable[[str], bool]:
    first, *others = [compile_glob(one, "text") for one in _canonical_patterns(pattern)]
    return (lambda text: first(text) or any(fits(text) for fits in others)) if others else first


def _canonical_patterns(pattern: str) -> list[str]:
    """Each alternative is a command of its own: ``rm {-r,-f} *`` also speaks of ``rm x -fr``."""
    alternatives = written_out(pattern)
    return [canonical_pattern(one) for one in (alternatives if alternatives[1:] else [pattern])]


def _anything(_target: str) -> bool:
    return True
