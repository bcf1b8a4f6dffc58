"""The checks of `holdfast doctor` about tools: those that `holdfast tools` would load.

Loading runs the files, as it does there; whatever would stop it there is a FAIL here.
"""

from collections.abc import Iterator
from pathlib import Path

from holdfast.app.configuration import Configuration
from holdfast.app.doubts import vain_limits
from holdfast.app.holdfast import Holdfast
from holdfast.app.problems import ToolFileError
from holdfast.app.settings import Settings
from holdfast.app.tool_files import merged, tools_of
from holdfast.contract.tool import Tool, ToolDefinitionError
from holdfast.surfaces.cli.looks import Finding
from holdfast.surfaces.cli.opening import unlike
from holdfast.surfaces.cli.screen import one_line


def check_tools(loaded: Configuration) -> Iterator[Finding]:
    """Can the configured tools be used, and do the limits of single tools mean any of them?"""
    settings = loaded.settings
    files = unlike(settings.tools.files)
    tools, problems = _loaded(files, settings)
    for problem in problems:
        what, _, step = one_line(problem).rpartition("; ")
        yield Finding("FAIL", "tool files", what or step, step if what else "correct it")
    if files and not problems:
        read = ", ".join(map(str, files))
        yield Finding("OK", "tool files", f"{read} ({len(tools)} tools)")
    for doubt in vain_limits(settings.limits, () if problems else tools):
        yield Finding("WARN", "configuration", one_line(doubt.what), one_line(doubt.step))


def _loaded(files: list[Path], settings: Settings) -> tuple[tuple[Tool, ...], list[str]]:
    """The tools of the files, and everything that keeps them from being used."""
    found: list[tuple[Path, list[Tool]]] = []
    problems: list[str] = []
    for path in files:
        try:
            found.append((path, tools_of(path)))
        except ToolFileError as problem:
            problems.append(str(problem))
    tools: tuple[Tool, ...] = ()
    try:
        tools = merged(found)
        Holdfast(tools=tools, settings=settings)
    except (ToolFileError, ToolDefinitionError) as problem:
        problems.append(str(problem))
    return tools, problems
