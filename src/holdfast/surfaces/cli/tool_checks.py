"""The checks of `holdfast doctor` about tools: those that `holdfast tools` would load.

Loading runs the files, as it does there; whatever would stop it there is a FAIL here.
"""

from collections.abc import Iterator
from pathlib import Path

from holdfast.app.configuration import Configuration
from holdfast.app.doubts import vain_filters, vain_limits
from holdfast.app.holdfast import Holdfast
from holdfast.app.problems import ConfigurationError, ToolFileError
from holdfast.app.tool_files import merged, tools_of
from holdfast.contract.tool import Tool, ToolDefinitionError
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.looks import Finding
from holdfast.surfaces.cli.opening import USUAL_PROFILE, unlike
from holdfast.surfaces.cli.screen import one_line

Problem = tuple[str, str]
"""What has it, and what is wrong; what to do."""

_FILES = "tool files"


def check_tools(loaded: Configuration) -> Iterator[Finding]:
    """Can the configured tools be used, and do the limits of single tools mean any of them?"""
    settings = loaded.settings
    files = unlike(settings.tools.files)
    tools, problems = _loaded(files)
    if not problems:
        problems = list(_opened(tools, loaded))
    for name, problem in problems:
        what, _, step = one_line(loaded.as_written(problem)).rpartition("; ")
        yield Finding("FAIL", name, what or step, step if what else "correct it")
    if files and not problems:
        read = loaded.as_written(", ".join(map(str, files)))
        yield Finding("OK", "tool files", f"{read} ({counted(len(tools), 'tool')})")
    if not problems:
        yield from check_agents(tools, loaded)
    known = () if problems else tools
    doubts = [*vain_limits(settings.limits, known)]
    if not problems:
        names = [tool.name for tool in known]
        doubts += vain_filters(settings, settings.profile, names, only_these=bool(names))
    for doubt in doubts:
        yield Finding("WARN", "configuration", one_line(doubt.what), one_line(doubt.step))


def check_agents(tools: tuple[Tool, ...], loaded: Configuration) -> Iterator[Finding]:
    """Can a session be opened under each of the agents?"""
    well: list[str] = []
    for name, agent in loaded.settings.agent.items():
        profile = agent.profile or USUAL_PROFILE
        try:
            Holdfast(
                tools=tools,
                profile=profile,
                workspace=loaded.workspace,
                configuration=loaded,
                agent=name,
            )
        except (ConfigurationError, ToolDefinitionError) as problem:
            what, _, step = one_line(loaded.as_written(str(problem))).partition("; ")
            yield Finding("FAIL", "agents", what, step)
        else:
            well.append(name)
    if well:
        yield Finding("OK", "agents", ", ".join(well))


def _loaded(files: list[Path]) -> tuple[tuple[Tool, ...], list[Problem]]:
    """The tools of the files, and everything that keeps them from being used."""
    found: list[tuple[Path, list[Tool]]] = []
    problems: list[Problem] = []
    for path in files:
        try:
            found.append((path, tools_of(path)))
        except ToolFileError as problem:
            problems.append((_FILES, str(problem)))
    tools: tuple[Tool, ...] = ()
    try:
        tools = merged(found)
    except ToolFileError as problem:
        problems.append((_FILES, str(problem)))
    return tools, problems


def _opened(tools: tuple[Tool, ...], loaded: Configuration) -> Iterator[Problem]:
    """What would stop every call although all files can be read."""
    try:
        Holdfast(tools=tools, profile=USUAL_PROFILE, configuration=loaded)
    except ToolDefinitionError as problem:
        yield _FILES, str(problem)
    except ConfigurationError as problem:
        yield "configuration", str(problem)
