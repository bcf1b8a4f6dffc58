"""A conformance check for plugins: load one as holdfast would, and check every tool of it."""

from holdfast.contract.tool import LOCKED_NAMES
from holdfast.sources import lint
from holdfast.sources.plugins.loading import PluginProblem, load_plugin
from holdfast.testing.tool_check import check_tools


async def check_plugin(named: str) -> list[str]:
    """Everything that is wrong with a plugin, a line each; empty when it conforms.

    ``named``: as in the configuration, by the name its package announces, or by a folder with a
    slash in it.
    """
    try:
        plugin = load_plugin(named)
    except PluginProblem as problem:
        return [str(problem)]
    names = [tool.name for tool in plugin.tools]
    twice = [f"{name}: there are two tools of this name" for name in names if names.count(name) > 1]
    locked = [
        f"{name}: this name is locked; it belongs to a built-in tool: give yours another"
        for name in names
        if name in LOCKED_NAMES
    ]
    doubts = [doubt for tool in plugin.tools for doubt in lint.lint(tool)]
    return [*dict.fromkeys(twice), *locked, *doubts, *await check_tools(plugin.tools)]
