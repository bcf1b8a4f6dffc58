"""Python files that hold tools, named by the operator: loaded, and their tools collected.

Loading runs the file, so only files a person named may come here. What a tool is made of is not
known here; the sources decide that.
"""

from collections.abc import Iterable
from pathlib import Path

from holdfast.app.problems import ToolFileError
from holdfast.contract.tool import Tool, ToolDefinitionError
from holdfast.sources.intake import to_tool
from holdfast.sources.module_tools import ModuleProblem, load_module, tools_in_module

__all__ = ["ToolFileError", "load_tools", "merged", "tools_in", "tools_of"]


def load_tools(files: Iterable[Path]) -> tuple[Tool, ...]:
    """The tools of several files, each name once; ToolFileError names the files."""
    return merged((path, tools_of(path)) for path in files)


def tools_of(path: Path) -> list[Tool]:
    """Load the file; raises ToolFileError."""
    return [_made(path, found) for found in tools_in(path)]


def merged(loaded: Iterable[tuple[Path, Iterable[Tool]]]) -> tuple[Tool, ...]:
    """The tools of several loaded files, each name once; raises ToolFileError."""
    homes: dict[str, Path] = {}
    tools: dict[str, Tool] = {}
    for path, found in loaded:
        for tool in found:
            if tools.setdefault(tool.name, tool) is not tool:
                raise ToolFileError(_twice(tool.name, homes[tool.name], path))
            homes[tool.name] = path
    return tuple(tools.values())


def _made(path: Path, found: object) -> Tool:
    try:
        return to_tool(found)
    except ToolDefinitionError as problem:
        raise ToolFileError(f"{path}: {problem}; correct it there") from problem


def _twice(name: str, first: Path, second: Path) -> str:
    if first == second:
        return f"{first}: there are two tools named {name!r} in it; rename one of them"
    return f"the tool {name!r} is both in {first} and in {second}; rename one or leave a file out"


def tools_in(path: Path) -> list[object]:
    """Load the file and collect its tools in the order they are defined.

    Every global whose name has no leading underscore counts, imported ones included.
    """
    try:
        return tools_in_module(load_module(path))
    except ModuleProblem as problem:
        where = path if problem.line is None else f"{path}:{problem.line}"
        raise ToolFileError(f"{where}: {problem}") from problem
