"""Compiling agents: from what is declared to what a session is opened under, or to an error.

Done once, before the session starts; what comes out never changes. An error names the entry it is
about, as `agent.coder.requires.read[0]`. Judging calls by it is others' work, and so is running it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from holdfast.app.agent_patterns import check_requires
from holdfast.app.agent_places import adhoc_directories, further_roots, skill_folders, substrate_of
from holdfast.app.agent_rules import agent_rules
from holdfast.app.agent_settings import AgentSettings, agent_of
from holdfast.app.judging import manifest_rules
from holdfast.app.problems import ConfigurationError
from holdfast.app.profiles import profile_settings
from holdfast.app.settings import ProfileSettings, Settings, Surroundings
from holdfast.app.spelling import advice
from holdfast.app.subagents import Runner, Subagent
from holdfast.contract.agents import Agent, CompiledAgent
from holdfast.contract.delegation import AgentMode
from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.requirements import declared_set

_ID = late_pattern(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_WILD = frozenset("*?[")

Declared = Agent | AgentSettings
"""An agent in code, or its table."""


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """What agents are compiled against."""

    settings: Settings
    surroundings: Surroundings
    workspace: Path | None
    """Without links; None: there is none."""
    profile: str
    """Of an agent that names none."""
    tools: Callable[[], Collection[str]] = frozenset
    """The names of the tools there are, whatever profiles show of them."""
    may_come: Callable[[str], bool] = lambda _name: False
    """Whether a source may still bring a tool that is called so."""
    agents: Mapping[str, AgentMode] = {}
    """All that there are."""


def compiled(declared: Declared, ground: Ground, name: str = "") -> CompiledAgent:
    """The agent, ready to be used; ConfigurationError names the entry that is wrong.

    ``name``: of a table, what it is called.
    """
    agent = agent_of(name, declared) if isinstance(declared, AgentSettings) else declared
    _check_shape(agent)
    profile = agent.profile or ground.profile
    settings = _profile(agent, profile, ground.settings)
    requires = declared_set(agent.requires)
    check_requires(f"agent.{agent.id}.requires", requires)
    _check_tools(agent, ground)
    skill_folders(agent)
    return CompiledAgent(
        agent=agent,
        profile=profile,
        requires=requires,
        rules=(*manifest_rules(settings, profile), *agent_rules(agent.id, agent.rules)),
        workspace=None if ground.workspace is None else str(ground.workspace),
        roots=further_roots(agent, ground.surroundings, ground.workspace),
        ad_hoc=adhoc_directories(agent, ground.surroundings, ground.workspace),
        substrate=substrate_of(agent, ground.surroundings, ground.workspace),
        subagents=_subagents(agent, ground.agents),
    )


def subagents_of(agents: Iterable[CompiledAgent], runner: Runner) -> dict[str, Subagent]:
    """What `task` can hand work to: those that take it, each with what runs its loop."""
    return {
        one.id: Subagent(
            run=runner(one),
            description=one.agent.description,
            mode=one.agent.mode,
            profile=one.profile,
            agent=one,
            pauses=getattr(runner, "pauses", False),
        )
        for one in agents
        if one.agent.takes_work
    }


def _check_shape(agent: Agent) -> None:
    """What is made in code is as it was put together; nothing has looked at it yet."""
    for field in msgspec.structs.fields(Agent):
        if field.name == "requires":  # read when the agent was made
            continue
        try:
            msgspec.convert(msgspec.to_builtins(getattr(agent, field.name)), field.type)
        except (msgspec.ValidationError, TypeError) as problem:
            what, _, place = str(problem).partition(" - at `$")
            raise ConfigurationError(
                f"agent.{agent.id}.{field.name}{place.rstrip('`')}: {what}; choose another value"
            ) from None
    if not _ID.fullmatch(agent.id):
        raise ConfigurationError(
            f"agent {agent.id!r}: it cannot be called that; use letters, digits, - and _, at most"
            " 64 of them"
        )
    if len(agent.description.splitlines()) > 1:
        raise ConfigurationError(
            f"agent.{agent.id}.description: it has several lines; say in one what the agent is for"
        )


def _profile(agent: Agent, profile: str, settings: Settings) -> ProfileSettings:
    try:
        return profile_settings(settings.profile, profile)
    except ConfigurationError as problem:
        if agent.profile is None:
            raise
        raise ConfigurationError(f"agent.{agent.id}.profile: {problem}") from None


def _check_tools(agent: Agent, ground: Ground) -> None:
    for key, names in msgspec.structs.asdict(agent.tools).items():
        for place, name in enumerate(names):
            known = ground.tools()
            fits = any(fnmatchcase(one, name.strip()) for one in known)
            if fits or ground.may_come(name.strip()):
                continue
            wild = not _WILD.isdisjoint(name)
            what = f"no tool fits {name!r}" if wild else f"there is no tool {name!r}"
            raise ConfigurationError(
                f"agent.{agent.id}.tools.{key}[{place}]: {what}; {advice(name, known)}"
            )


def _subagents(agent: Agent, agents: Mapping[str, AgentMode]) -> tuple[str, ...]:
    taking = [name for name, mode in agents.items() if mode != "primary"]
    if agent.subagents is None:
        return tuple(taking)
    for place, name in enumerate(agent.subagents):
        entry = f"agent.{agent.id}.subagents[{place}]"
        if name not in agents:
            raise ConfigurationError(f"{entry}: there is no agent {name!r}; {advice(name, taking)}")
        if name not in taking:
            raise ConfigurationError(
                f"{entry}: {name!r} has the mode primary, and takes no work of others; give it the"
                " mode all, or take it out"
            )
    return agent.subagents
