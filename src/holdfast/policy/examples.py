"""Examples beside a rule: texts its author says it fits, and texts it does not.

They are judged exactly as calls are.
"""

import msgspec

from holdfast.contract.rules import Rule, TargetKind, Use
from holdfast.policy.host_rules import with_port
from holdfast.policy.hosts import Host, host_of
from holdfast.policy.paths import normal_text
from holdfast.policy.rules import RuleBook, ToolNames
from holdfast.policy.targets import KINDS
from holdfast.policy.uses import uses_of_command


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A text, and whether the rule fits it as its author says."""

    rule: Rule
    text: str
    wanted: bool
    fits: bool

    @property
    def holds(self) -> bool:
        """Whether the author is right."""
        return self.fits is self.wanted

    @property
    def key(self) -> str:
        """The key in the file."""
        return "match" if self.wanted else "no_match"

    @property
    def complaint(self) -> str:
        """What to say when it does not hold."""
        fits = "does not fit" if self.wanted else "fits"
        return (
            f"the pattern {self.rule.pattern!r} {fits} {self.text!r}, which stands under {self.key}"
        )


def examples_of(
    rule: Rule, match: tuple[str, ...], no_match: tuple[str, ...], kind: TargetKind | None = None
) -> list[Example]:
    """Judge the examples of one rule by that rule alone."""
    kind = kind or kind_of(rule)
    return [
        Example(rule=rule, text=text, wanted=wanted, fits=fits(rule, text, kind))
        for wanted, texts in ((True, match), (False, no_match))
        for text in texts
    ]


def fits(rule: Rule, text: str, kind: TargetKind) -> bool:
    """Whether the rule decides about the text; an allow only if it covers every part."""
    names = ToolNames(rule.permission)
    book = RuleBook([rule])
    uses = uses_of_command(text) if kind == "command" else [_used(text, kind)]
    decided = [book.weigh(names, use).rule is not None for use in uses]
    return all(decided) if rule.action == "allow" else any(decided)


def _used(text: str, kind: TargetKind) -> Use:
    host = host_of(text) if kind == "host" else None
    if isinstance(host, Host):
        return Use(capability=None, kind=kind, target=host.name, spellings=(with_port(host),))
    return Use(capability=None, kind=kind, target=normal_text(text) if kind == "path" else text)


def kind_of(rule: Rule) -> TargetKind:
    """What the targets of a rule are; of a tool of one's own it is guessed from the pattern."""
    known = KINDS.get(rule.permission)
    if known is not None:
        return known
    return "path" if "/" in rule.pattern and " " not in rule.pattern else "command"
