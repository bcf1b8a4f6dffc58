"""The plugins of a session: loaded because the configuration names them."""

from collections.abc import Iterable
from typing import NamedTuple

from holdfast.app.problems import ConfigurationError
from holdfast.contract.tool import Tool
from holdfast.policy.powers import AgentRules
from holdfast.sources.plugins.loading import Plugin, PluginProblem, load_plugin


class LoadedPlugins(NamedTuple):
    """Their tools, and on which grounds these run."""

    tools: tuple[Tool, ...] = ()
    granted: AgentRules = AgentRules()


NO_PLUGINS = LoadedPlugins()


def plugins_of(names: Iterable[str]) -> LoadedPlugins:
    """Load them, each once; ConfigurationError names the one that cannot be."""
    loaded = [_loaded(name) for name in dict.fromkeys(names)]
    standing = {
        tool.name: f"the plugin {one.name} ({one.origin}) is named in the configuration"
        for one in loaded
        for tool in one.tools
    }
    tools = tuple(tool for one in loaded for tool in one.tools)
    return LoadedPlugins(tools, AgentRules(standing=standing))


def _loaded(name: str) -> Plugin:
    try:
        return load_plugin(name)
    except PluginProblem as problem:
        raise ConfigurationError(f"plugins.load: {problem}") from problem
