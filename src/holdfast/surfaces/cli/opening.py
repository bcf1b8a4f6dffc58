"""From a command line to settings and tools: what `tools` and `call` begin with."""

from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

import msgspec

from holdfast.app.configuration import Configuration, load_configuration
from holdfast.app.environment import variables
from holdfast.app.locations import user_file
from holdfast.app.options import AgentOptions, SourceOptions
from holdfast.app.policy_files import POLICY_NAME
from holdfast.app.profiles import profiles_with
from holdfast.app.settings import DEFAULT_PROFILE
from holdfast.app.source_settings import Timeouts
from holdfast.app.tool_files import ToolFileError, load_tools
from holdfast.contract.tool import Tool
from holdfast.surfaces.cli.parsing import overrides_in, workspace_in
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.tool_names import may_be_of

USUAL_PROFILE = "code"
"""Of a person at the command line."""


class Named(SourceOptions, AgentOptions, total=False):
    """What a command line names of other sources of tools, and of agents."""


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """What a command line stands for."""

    configuration: Configuration
    profile: str
    tools: tuple[Tool, ...]
    """All that was loaded, also what the profile hides."""
    sources: Named
    """What the command line names of other sources, and the agent."""

    def hides(self, name: str) -> bool:
        """Whether there is such a tool, but not under this profile. Asked once it was not found."""
        return any(tool.name == name for tool in self.tools)

    def elsewhere(self, name: str) -> str | None:
        """What to say of a tool that other profiles have; None: none has it."""
        found = profiles_with(name)
        if not found:
            return None
        which = " or ".join(found)
        return (
            f"the tool {name!r} belongs to the profile {which}; choose it with --profile {found[0]}"
        )

    @property
    def has_servers(self) -> bool:
        """Whether there are MCP servers to be asked for their tools."""
        return self.profile != DEFAULT_PROFILE and bool(self.configuration.settings.mcp)

    def sources_of(self, tool: str) -> Named:
        """The same with those servers alone that a tool of this name may be of."""
        if not self.has_servers:
            return self.sources
        fewer = self.sources.copy()
        fewer["servers"] = may_be_of(tool, self.configuration.settings.mcp)
        return fewer

    @property
    def other_profile(self) -> str:
        """What to do about a tool that is hidden."""
        return f"choose another with --profile, or change [profile.{self.profile}.tools]"


def chosen(arguments: Namespace, screen: Screen) -> Chosen:
    """Read the configuration and load the tool files, the configured ones first."""
    loaded = configured(arguments, screen)
    files = unlike([*loaded.settings.tools.files, *arguments.files])
    profile = profile_in(arguments, loaded)
    try:
        tools = load_tools(files)
    except ToolFileError as problem:
        raise ToolFileError(loaded.as_written(str(problem))) from problem
    return Chosen(configuration=loaded, profile=profile, tools=tools, sources=_sources(arguments))


def profile_in(arguments: Namespace, loaded: Configuration) -> str:
    """What `--profile` says, or else the agent that `--agent` names."""
    agent = loaded.settings.agent.get(arguments.agent or "")
    return arguments.profile or (agent and agent.profile) or USUAL_PROFILE


def _sources(arguments: Namespace) -> Named:
    timeouts = Timeouts(tool=arguments.tool_timeout, general=arguments.timeout)
    return Named(manifests=tuple(arguments.manifests), timeouts=timeouts, agent=arguments.agent)


def configured(arguments: Namespace, screen: Screen) -> Configuration:
    """Read the configuration, and say what of it is not applied."""
    loaded = load_configuration(workspace_in(arguments), overrides=overrides_in(arguments))
    for notice in loaded.notices:
        screen.remark(f"note: {notice}")
    return loaded


def own_rules() -> str:
    """Where the person's own rules are, or would be."""
    own = user_file(variables())
    return POLICY_NAME if own is None else str(own.with_name(POLICY_NAME))


def unlike(names: Iterable[str]) -> list[Path]:
    """The files of these names, each once."""
    return list(dict.fromkeys(Path(name).absolute() for name in names))
