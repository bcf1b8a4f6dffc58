"""Examples beside a rule: texts its author says it fits, and texts it does not.

They are judged exactly as calls are.
"""

import msgspec

from holdfast.contract.rules import Rule, TargetKind, Use
from holdfast.policy.rules import RuleBook, ToolNames
from holdfast.policy.uses import uses_of_command

KINDS: dict[str, TargetKind] = {
    **dict.fromkeys(("read", "write", "edit", "glob", "grep", "fs.read", "fs.write"), "path"),
    **dict.fromkeys(("bash", "shell.run"), "command"),
    **dict.fromkeys(("web_fetch", "web_search", "net.fetch"), "host"),
    **dict.fromkeys(("task", "skill", "todo", "question", "tool_search"), "name"),
}


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
    uses = [Use(capability=None, kind=kind, target=text)]
    if kind == "command":
        uses = uses_of_command(text)
    decided = [book.weigh(names, use).rule is not None for use in uses]
    return all(decided) if rule.action == "allow" else any(decided)


def kind_of(rule: Rule) -> TargetKind:
    """What the targets of a rule are; of a tool of one's own it is guessed from the pattern."""
    known = KINDS.get(rule.permission)
    if known is not None:
        return known
    return "path" if "/" in rule.pattern and " " not in rule.pattern else "command"
