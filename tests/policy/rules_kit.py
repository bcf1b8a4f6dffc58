"""Short spellings for rules and uses."""

from holdfast.contract.rules import Action, Rule, RuleScope, TargetKind, Use


def rule(
    permission: str,
    pattern: str,
    action: Action = "allow",
    scope: RuleScope = "session",
    *,
    remembered: bool = False,
    pinned: bool = False,
    reason: str | None = None,
    source: str = "test",
) -> Rule:
    return Rule(
        permission=permission,
        pattern=pattern,
        action=action,
        scope=scope,
        source=source,
        remembered=remembered,
        pinned=pinned,
        reason=reason,
    )


_KINDS: dict[str | None, TargetKind] = {
    "fs.read": "path",
    "fs.write": "path",
    "net.fetch": "host",
    "shell.run": "command",
}


def use(capability: str | None, target: str = "", *spellings: str, doubt: str | None = None) -> Use:
    return Use(
        capability=capability,
        kind=_KINDS.get(capability, "name"),
        target=target,
        spellings=spellings,
        doubt=doubt,
    )
