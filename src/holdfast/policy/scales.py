"""Every rule a use is weighed against: our own, those that only narrow, those of agents above.

The strictest of them counts. Which rule of one book decides is `rules`' work.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from holdfast.contract.rules import Rule, Use
from holdfast.contract.tool import Tool
from holdfast.policy.powers import Looked, Powers
from holdfast.policy.rules import STRICTNESS, RuleBook, ToolNames, Weighed


class Scales:
    """Weighs the uses of one session's calls."""

    def __init__(self, powers: Powers, rules: Iterable[Rule]) -> None:
        self._powers = powers
        self._standing = powers.own.standing
        self._book = RuleBook(rules)
        self._granted = RuleBook(powers.own.granted)
        self._narrowing = [_without_reasons(rules) for rules in powers.narrowing]
        self._parents = [(RuleBook(above.rules), above.standing) for above in powers.parents]
        self._books = [self._book, *self._narrowing, *(book for book, _ in self._parents)]
        self._names: dict[str, ToolNames] = {}

    def with_more(self, rules: Iterable[Rule]) -> "Scales":
        """The same with further rules of one's own."""
        return Scales(self._powers, [*self._book.rules, *rules])

    def with_doubts_let_run(self) -> "Scales":
        """The same, as if somebody said that commands in doubt run where no rule speaks of them."""
        powers = msgspec.structs.replace(self._powers, doubts=self._powers.doubts_setting)
        return Scales(powers, self._book.rules)

    def weigh_all(self, tool: Tool, looked: Sequence[Looked]) -> list[Weighed]:
        """What all rules together say of the uses of one call."""
        weighed = [self.weigh(tool, one) for one in looked]
        if len(weighed) > 1 and any(map(_rests_on_an_answer, weighed)):
            # An answer about a command was given for that, and not for the files it is sent to.
            return [_asked_with_it(one) for one in weighed]
        return weighed

    def narrow(self, tool: Tool, capability: str) -> bool:
        """Whether any rule of any book may speak against a use of the capability."""
        return any(
            rule.action != "allow" and rule.capability in (None, capability)
            for rule in self.about(tool, capability)
        )

    def about(self, tool: Tool, capability: str) -> Iterator[Rule]:
        """Every rule that may speak of a use of the capability."""
        names = self._named(tool)
        return (rule for book in self._books for rule in book.about(names, capability))

    def spoken_against(self, tool: Tool, use: Use) -> Weighed | None:
        """What the strictest book says against a use; None: none does, or all are silent."""
        names = self._named(tool)
        found = [book.weigh(names, use) for book in self._books]
        against = [one for one in found if one.rule is not None and one.action != "allow"]
        return max(against, key=lambda one: STRICTNESS[one.action], default=None)

    def _named(self, tool: Tool) -> ToolNames:
        names = self._names.get(tool.name)
        if names is None:
            names = self._names[tool.name] = ToolNames(tool.name, tool.alias)
        return names

    def weigh(self, tool: Tool, looked: Looked) -> Weighed:
        """What all rules together say of one use."""
        use, name, names = looked.use, tool.name, self._named(tool)
        ours = self._book.weigh(names, use)
        if ours.rule is None and self._granted.rules:
            ours = self._granted.weigh(names, use)
        if ours.rule is None:
            ours = self._with_standing(ours, tool, self._standing.get(name), free=looked.free)
        if not self._parents and not self._narrowing:
            return ours
        found = [ours, *(book.weigh(names, use) for book in self._narrowing)]
        for book, standing in self._parents:
            above = book.weigh(names, use)
            found.append(self._with_standing(above, tool, standing.get(name), free=looked.free))
        return max(found, key=lambda one: STRICTNESS[one.action])

    def _with_standing(
        self, weighed: Weighed, tool: Tool, vouched: str | None, *, free: bool
    ) -> Weighed:
        """Where no rule speaks: allow what needs nothing and is ours, or is vouched for."""
        use = weighed.use
        if weighed.rule is not None:
            return weighed
        if use.doubt is not None:
            if vouched is None or use.within is None or self._powers.doubts is None:
                return weighed
            vouched = self._powers.doubts
        ours = tool.ownership != "mcp" and use.capability is None
        if not ours and not free and vouched is None:
            return weighed
        return msgspec.structs.replace(weighed, action="allow", vouched=vouched)


def _rests_on_an_answer(weighed: Weighed) -> bool:
    """Whether a person decides about a command, or has decided."""
    rule = weighed.rule
    remembered = rule is not None and rule.remembered
    return weighed.use.kind == "command" and (weighed.action == "ask" or remembered)


def _asked_with_it(weighed: Weighed) -> Weighed:
    """A redirection that no rule speaks of does not pass in silence beside such a command."""
    use = weighed.use
    redirected = use.kind == "path" and use.within is not None
    if weighed.rule is None and weighed.action == "allow" and redirected:
        return msgspec.structs.replace(weighed, action="ask")
    return weighed


def _without_reasons(rules: Sequence[Rule]) -> RuleBook:
    """Rules that only narrow; what a stranger wrote beside them is not passed on to a model."""
    bare = [msgspec.structs.replace(rule, reason=None) for rule in rules]
    return RuleBook(bare, silence="allow")
