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
    for problem in conflicts(loaded).values():
        raise ConfigurationError(f"plugins.load: {problem}")
    standing = {
        tool.name: f"the plugin {one.name} ({one.origin}) is named in the configuration"
        for one in loaded
        for tool in one.tools
    }
    tools = tuple(tool for one in loaded for tool in one.tools)
    return LoadedPlugins(tools, AgentRules(standing=standing))


def conflicts(loaded: Iterable[Plugin]) -> dict[str, str]:
    """By plugin, the first tool name that it shares with another one, and what to do."""
    owners: dict[str, Plugin] = {}
    found: dict[str, str] = {}
    for plugin in loaded:
        for tool in plugin.tools:
            other = owners.setdefault(tool.name, plugin)
            if other is not plugin:
                said = (
                    f"the tool {tool.name!r} is both in {_shown(other)} and in {_shown(plugin)};"
                    " rename one of them, or take one plugin out of [plugins] load"
                )
                found.setdefault(other.name, said)
                found.setdefault(plugin.name, said)
    return found


def _shown(plugin: Plugin) -> str:
    return plugin.name if plugin.name == plugin.origin else f"{plugin.name} ({plugin.origin})"


def _loaded(name: str) -> Plugin:
    try:
        return load_plugin(name)
    except PluginProblem as problem:
        raise ConfigurationError(f"plugins.load: {problem}") from problem
