"""`holdfast policy list`: every rule in force and where it stands. No tool is loaded."""

from argparse import Namespace

from holdfast.app.rules_in_force import RuleInForce, rules_in_force
from holdfast.contract.json_value import JsonObject
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.opening import configured, own_rules, profile_in
from holdfast.surfaces.cli.remembered import grants_of
from holdfast.surfaces.cli.screen import Screen


def list_rules(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    loaded = configured(arguments, screen)
    kept = grants_of(loaded)
    profile = profile_in(arguments, loaded)
    grants = () if kept is None else kept.load()
    found = rules_in_force(loaded, profile, grants, arguments.agent)
    if arguments.json:
        screen.document([_plain(one) for one in found])
    elif found:
        headings = ("SCOPE", "PERMISSION", "PATTERN", "ACTION", "REASON", "WHERE")
        screen.look.table(headings, [_row(one) for one in found])
    else:
        screen.look.text(printable(f"There are no rules. Yours would stand in {own_rules()}."))
    return 0


def _row(found: RuleInForce) -> tuple[str, ...]:
    rule = found.rule
    reason = rule.reason or ""
    cells = (_scope(found), rule.permission, rule.pattern, rule.action, reason, rule.source)
    return tuple(map(printable, cells))


def _scope(found: RuleInForce) -> str:
    if found.rule.remembered:
        return "remembered"
    if found.only_narrows:
        return "not trusted"
    return f"{found.rule.scope}, pinned" if found.rule.pinned else found.rule.scope


def _plain(found: RuleInForce) -> JsonObject:
    rule = found.rule
    return {
        "scope": rule.scope,
        "permission": rule.permission,
        "pattern": rule.pattern,
        "action": rule.action,
        "source": rule.source,
        "reason": rule.reason,
        "pinned": rule.pinned,
        "remembered": rule.remembered,
        "only_narrows": found.only_narrows,
    }
