"""The agent that a session is opened under, and whom it hands work to: found and compiled.

Used where there is an agent, or somebody who runs the loops of others.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from holdfast.app import servers
from holdfast.app.agents import Declared, Ground, compiled, subagents_of
from holdfast.app.configuration import Configuration
from holdfast.app.named_sources import NamedSources
from holdfast.app.options import OpenedUnder, Options, Wanted
from holdfast.app.problems import ConfigurationError
from holdfast.app.profiles import shipped_names
from holdfast.app.settings import DEFAULT_PROFILE, Settings, Surroundings
from holdfast.app.spelling import advice
from holdfast.app.subagents import Subagent
from holdfast.contract.agents import Agent, CompiledAgent
from holdfast.contract.json_value import text_of


def profile_of(wanted: Wanted, settings: Settings) -> str:
    """The profile of the agent, or else the one that was asked for; ConfigurationError for two."""
    chosen = _chosen(wanted.options, declared_agents(settings, wanted.options))
    own = None if chosen is None else chosen[1].profile
    if chosen is None or own is None or isinstance(chosen[1], CompiledAgent):
        return own or wanted.profile
    if wanted.profile not in (DEFAULT_PROFILE, own):
        raise ConfigurationError(
            f"agent.{chosen[0]}.profile: the agent has the profile {own!r}, and {wanted.profile!r}"
            " was asked for; leave --profile (in code profile=) out"
        )
    return own


def opened_under(
    wanted: Wanted,
    sources: NamedSources,
    configuration: Configuration,
    surroundings: Surroundings,
    workspace: str | None,
) -> OpenedUnder:
    """Find and compile; ConfigurationError names what is not there or cannot be used."""
    options, settings = wanted.options, configuration.settings
    roll = declared_agents(settings, options)
    chosen = _chosen(options, roll)
    ground = Ground(
        settings=settings,
        surroundings=surroundings,
        workspace=None if workspace is None else Path(workspace),
        profile=wanted.profile,
        tools=lambda: {*shipped_names(), *(one.name for one in (*wanted.tools, *sources.plugins))},
        may_come=lambda name: may_come(name, sources),
        agents={
            **{name: one.mode for name, one in roll.items()},
            **{name: one.mode for name, one in options.get("subagents", {}).items()},
        },
    )
    agent = None if chosen is None else _compiled(*chosen, ground)
    return OpenedUnder(agent, _subagents(options, roll, agent, ground))


def declared_agents(settings: Settings, options: Options) -> dict[str, Declared]:
    """Every agent there is, by name; ConfigurationError for two of one name."""
    found: dict[str, Declared] = {**settings.agent}
    chosen = options.get("agent")
    given = [*options.get("agents", ()), *([chosen] if isinstance(chosen, Agent) else ())]
    for one in given:
        if found.setdefault(one.id, one) is not one:
            raise ConfigurationError(
                f"agent.{one.id}: there are two agents of this name; call one of them otherwise"
            )
    return found


def may_come(name: str, sources: NamedSources) -> bool:
    """Whether a source may still bring a tool of this name, or one that fits this pattern."""
    if sources.manifests or not sources.servers:
        return bool(sources.manifests)
    wild = any(sign in name for sign in "*?[")
    return wild or bool(servers.servers_with(name, [one.name for one in sources.servers]))


def _chosen(
    options: Options, roll: Mapping[str, Declared]
) -> tuple[str, Declared | CompiledAgent] | None:
    agent = options.get("agent")
    if agent is None:
        return None
    if isinstance(agent, CompiledAgent):
        return agent.id, agent
    if not isinstance(cast("object", agent), (str, Agent)):
        raise TypeError(f"Holdfast(agent=...) takes a name or an Agent; got {text_of(agent)}")
    name = agent if isinstance(agent, str) else agent.id
    if name not in roll:
        raise ConfigurationError(
            f"there is no agent {name!r}; {advice(name, roll)}; add an [agent.{name}] table"
        )
    return name, roll[name]


def _compiled(name: str, chosen: Declared | CompiledAgent, ground: Ground) -> CompiledAgent:
    if not isinstance(chosen, CompiledAgent):
        return compiled(chosen, ground, name)
    workspace = None if ground.workspace is None else str(ground.workspace)
    if chosen.workspace != workspace:
        raise ConfigurationError(
            f"agent.{name}: it was compiled for the workspace {chosen.workspace}, and this one is"
            f" {workspace}; compile it anew"
        )
    return chosen


def _subagents(
    options: Options,
    roll: Mapping[str, Declared],
    agent: CompiledAgent | None,
    ground: Ground,
) -> dict[str, Subagent]:
    """Whom the session may hand work to: those that were handed in, and those with a runner."""
    handed_in = options.get("subagents", {})
    runner = options.get("runner")
    may = {*ground.agents} if agent is None else {*agent.subagents}
    chosen = {name: one for name, one in handed_in.items() if name in may}
    if runner is None:
        return chosen
    made = [
        compiled(one, ground, name)
        for name, one in roll.items()
        if name in may and name not in chosen and one.mode != "primary"
    ]
    return {**subagents_of(made, runner), **chosen}
