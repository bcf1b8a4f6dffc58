"""Every rule a session would begin with, in the order of their scopes. Nothing is judged here."""

from collections.abc import Sequence

import msgspec

from holdfast.app.agent_rules import agent_rules
from holdfast.app.agent_settings import agent_of
from holdfast.app.configuration import Configuration
from holdfast.app.judging import manifest_rules
from holdfast.app.problems import ConfigurationError
from holdfast.app.profiles import profile_settings
from holdfast.app.spelling import advice
from holdfast.contract.rules import Rule
from holdfast.policy.rules import RuleBook, RuleProblem


class RuleInForce(msgspec.Struct, frozen=True, kw_only=True):
    """One rule, and whether it counts in full."""

    rule: Rule
    only_narrows: bool = False
    """It is weighed apart: its project is not trusted."""


def rules_in_force(
    configuration: Configuration, profile: str, grants: Sequence[Rule], agent: str | None = None
) -> list[RuleInForce]:
    """The manifest's, the project's, then what was remembered; ConfigurationError for a bad one."""
    settings = configuration.settings
    manifest = manifest_rules(profile_settings(settings.profile, profile), profile)
    if agent is not None:
        if agent not in settings.agent:
            raise ConfigurationError(
                f"there is no agent {agent!r}; {advice(agent, settings.agent)}"
            )
        manifest += agent_rules(agent, agent_of(agent, settings.agent[agent]).rules)
    found = configuration.rules
    try:
        book = RuleBook([*manifest, *found.rules, *grants])
        narrowing = RuleBook(found.narrowing)
    except RuleProblem as problem:
        raise ConfigurationError(str(problem)) from None
    written = [RuleInForce(rule=rule) for rule in book.rules if not rule.remembered]
    apart = [RuleInForce(rule=rule, only_narrows=True) for rule in narrowing.rules]
    remembered = [RuleInForce(rule=rule) for rule in book.rules if rule.remembered]
    return [*written, *apart, *remembered]
