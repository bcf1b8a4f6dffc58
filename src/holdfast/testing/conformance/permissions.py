"""Cases about rules: rules and a call whose target is already known, and the verdict."""

from collections.abc import Iterator
from typing import cast

from holdfast.contract.json_value import JsonValue
from holdfast.contract.rules import ACTIONS, Action, Rule, RuleScope, TargetKind, Use
from holdfast.contract.tool import PERSON_NAMES
from holdfast.policy.rules import STRICTNESS, RuleBook, ToolNames
from holdfast.policy.uses import uses_of_command
from holdfast.testing.conformance.case import Case, part, text

_KINDS: dict[str, TargetKind] = {"fs.read": "path", "fs.write": "path", "net.fetch": "host"}


def check(case: Case) -> Iterator[str]:
    """Compare the verdict."""
    wanted = case.get("expect")
    if wanted not in ACTIONS:
        raise ValueError(f"the case expects {wanted!r}; a verdict is one of {', '.join(ACTIONS)}")
    found = _verdict(case)
    if found != wanted:
        yield f"expected {wanted}, got {found}"


def _verdict(case: Case) -> Action:
    call = part(case, "call")
    names = ToolNames(text(call, "tool"), cast("str | None", call.get("alias")))
    headless = case.get("headless") is True
    if headless and names.name in PERSON_NAMES:
        return "deny"
    uses = list(uses_in(call))
    books = [RuleBook(rules_in(case.get("rules", [])))]
    if "parent_rules" in case:
        books.append(RuleBook(rules_in(case["parent_rules"])))
    verdicts: list[Action] = [_of_use(book, names, use) for book in books for use in uses]
    verdict = max(verdicts, key=lambda action: STRICTNESS[action])
    return "deny" if verdict == "ask" and headless else verdict


def _of_use(book: RuleBook, names: ToolNames, use: Use) -> Action:
    weighed = book.weigh(names, use)
    silent = weighed.rule is None and use.capability is None
    return "allow" if silent else weighed.action


def rules_in(given: JsonValue) -> list[Rule]:
    """The rules of a case; a rule without an action asks."""
    if not isinstance(given, list):
        raise TypeError("rules must be a list")
    return [_rule(one) for one in given]


def _rule(given: JsonValue) -> Rule:
    if not isinstance(given, dict):
        raise TypeError("a rule must be an object")
    action = given.get("action", "ask")
    if action not in ACTIONS:
        raise ValueError(f"a rule has the action {action!r}")
    return Rule(
        permission=text(given, "permission"),
        pattern=text(given, "pattern"),
        action=action,
        scope=cast("RuleScope", text(given, "scope")),
        source="the case",
        pinned=given.get("pinned") is True,
        remembered=given.get("remembered") is True or given.get("grant") is True,
    )


def uses_in(call: Case) -> Iterator[Use]:
    """What the call of a case does: each of its capabilities on its one target."""
    declared = call.get("capability")
    names = declared if isinstance(declared, list) else [declared]
    capabilities = [name for name in names if isinstance(name, str)]
    target = text(call, "target")
    if not capabilities:
        yield Use(capability=None, kind="name", target=target)
    for capability in capabilities:
        if capability == "shell.run":
            yield from uses_of_command(target)
        else:
            yield Use(capability=capability, kind=_KINDS.get(capability, "name"), target=target)
