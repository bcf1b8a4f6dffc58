"""The rules of an agent's author, as the judge weighs them. Which one decides is not known here."""

from collections.abc import Iterable, Iterator

from holdfast.app.problems import ConfigurationError
from holdfast.contract.agents import ManifestRule
from holdfast.contract.rules import Rule
from holdfast.policy.rules import RuleProblem, check_rule


def agent_rules(agent: str, rules: Iterable[ManifestRule]) -> Iterator[Rule]:
    """The rules of an agent itself; ConfigurationError names the one that cannot be."""
    for place, written in enumerate(rules):
        entry = f"agent.{agent}.rules[{place}]"
        where = f"; it stands in {written.source}" if written.source else ""
        if written.pinned and written.action != "ask":
            raise ConfigurationError(f"{entry}: only an ask can be pinned; a deny is final{where}")
        found = Rule(
            permission=written.permission,
            pattern=written.pattern,
            action=written.action,
            scope="manifest",
            source=written.source or entry,
            reason=written.reason,
            pinned=written.pinned,
        )
        try:
            check_rule(found)
        except RuleProblem as problem:
            said = str(problem).removeprefix(f"{found.source}: ")
            raise ConfigurationError(f"{entry}: {said}{where}") from None
        yield found
