"""Loading plugins: an installed package that announces tools, or a local folder, by name.

Loading runs a plugin's code, so only what a person named may come here: that a package is installed
adds nothing. What is done with the tools is not known here.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, cast

from holdfast.contract.tool import Tool, ToolDefinitionError
from holdfast.sources.intake import to_tool
from holdfast.sources.module_tools import ModuleProblem, is_tool, tools_in_module
from holdfast.sources.plugins.folder import load_folder

GROUP = "holdfast.tools"
"""The entry-point group in which a package announces its tools."""
FOLDER_FILE = "plugin.py"
"""What a local folder has to hold."""

_WHAT_IT_MAY_BE = (
    "let it be a module with tools, a list of tools, or a function without arguments that gives one"
)


class PluginProblem(ValueError):
    """A plugin cannot be used; the message says which, why, and what to do."""


class Plugin(NamedTuple):
    """A plugin that was loaded."""

    name: str
    origin: str
    """The package and its version, or the folder."""
    tools: tuple[Tool, ...]


def is_folder(named: str) -> bool:
    """Whether a plugin is named by its folder; otherwise by what a package calls it."""
    return "/" in named


def load_plugin(named: str) -> Plugin:
    """Load one; raises PluginProblem, whatever its code does."""
    if is_folder(named):
        file = Path(named) / FOLDER_FILE
        if not file.is_file():
            raise PluginProblem(
                f"{named}: there is no {FOLDER_FILE} in it; holdfast plugin init makes one"
            )
        return Plugin(named, named, _tools(str(file), lambda: load_folder(file)))
    entry = _announced_as(named)
    place = f"{named} ({_origin(entry)}, {entry.value})"
    return Plugin(named, _origin(entry), _tools(place, entry.load))


def announced() -> dict[str, str]:
    """What installed packages announce, by name, and which package that is."""
    return {entry.name: _origin(entry) for entry in entry_points(group=GROUP)}


def _announced_as(name: str) -> EntryPoint:
    found = list(entry_points(group=GROUP, name=name))
    if len({entry.value for entry in found}) > 1:
        both = " and ".join(sorted({_origin(entry) for entry in found}))
        raise PluginProblem(f"{name}: announced by {both}; uninstall one of them")
    if not found:
        names = sorted(announced())
        near = difflib.get_close_matches(name.casefold(), names, n=1)
        meant = f"did you mean {near[0]!r}? Otherwise " if near else ""
        raise PluginProblem(
            f"{name}: no installed package announces it (announced: {', '.join(names) or 'none'});"
            f" {meant}install the package into holdfast's environment, or name a folder with a"
            " slash, as in ./my-plugin"
        )
    return found[0]


def _origin(entry: EntryPoint) -> str:
    package = entry.dist
    return entry.value if package is None else f"{package.name} {package.version}"


def _tools(name: str, load: Callable[[], object]) -> tuple[Tool, ...]:
    try:
        found = tuple(to_tool(one) for one in _listed(load()))
    except ModuleProblem as problem:
        where = name if problem.line is None else f"{name}:{problem.line}"
        raise PluginProblem(f"{where}: {problem}") from problem
    except ToolDefinitionError as problem:
        raise PluginProblem(f"{name}: {problem}") from problem
    except _NotTools as problem:
        raise PluginProblem(f"{name}: {problem}") from problem
    except (Exception, SystemExit) as problem:
        said = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
        raise PluginProblem(f"{name}: loading it failed with {said}; report it there") from problem
    if not found:
        raise PluginProblem(f"{name}: it has no tools; {_WHAT_IT_MAY_BE}")
    return found


class _NotTools(ValueError):
    """What a plugin announces is something else."""


def _listed(announces: object) -> list[object]:
    """What a plugin announces, as a list of what may be tools."""
    if isinstance(announces, ModuleType):
        return tools_in_module(announces)
    if is_tool(announces):
        return [announces]
    if callable(announces) and not isinstance(announces, type):
        announces = announces()
    kind = type(announces)
    if isinstance(announces, Iterable) and not issubclass(kind, str | bytes | Mapping):
        return list(cast("Iterable[object]", announces))
    raise _NotTools(f"it announces {kind.__name__}, no tools; {_WHAT_IT_MAY_BE}")
