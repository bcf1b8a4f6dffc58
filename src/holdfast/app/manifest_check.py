"""A manifest looked at from all sides before anything of it is called: nothing is started.

What its format says, whether its programs are there, whether its schemas and requirements can be
enforced, and what a model would be told.
"""

import re
from pathlib import Path

import msgspec

from holdfast.contract.json_value import JsonObject
from holdfast.contract.requirements import RequirementSet
from holdfast.contract.tool import Tool, ToolDefinitionError
from holdfast.execution.path_facts import DiskPaths
from holdfast.policy.places import Places, places_of
from holdfast.policy.scope import compile_scope
from holdfast.policy.source_grants import DEFAULT_REQUIREMENTS
from holdfast.preflight.plan import Plan
from holdfast.preflight.schema import SchemaProblem
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.definitions import function_definition
from holdfast.sources import lint
from holdfast.sources.manifest.entries import (
    Manifest,
    ManifestEntry,
    ManifestProblem,
    look_through,
)
from holdfast.sources.manifest.first_line import start_doubt
from holdfast.sources.manifest.key_doubts import key_doubts
from holdfast.sources.manifest.presence import missing_programs
from holdfast.sources.manifest.quoting import quoted
from holdfast.sources.manifest.reading import content_of, folder_of
from holdfast.sources.manifest.tools import ManifestDefaults, manifest_tools, seconds_of

_TAKEN_EVERYWHERE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ODD_NAME = (
    "many providers of models refuse this name; take up to 64 letters, digits, underscores and"
    " hyphens"
)
DEFAULTS = ManifestDefaults(requires=DEFAULT_REQUIREMENTS["manifest"])
"""What counts for an entry where no configuration says otherwise."""


class CheckedTool(msgspec.Struct, frozen=True, kw_only=True):
    """One entry, as it would be called."""

    name: str
    description: str | None
    parameters: tuple[str, ...]
    """The names of its arguments."""
    command: tuple[str, ...]
    seconds: float
    passed: tuple[str, ...]
    requires: RequirementSet
    definition: dict[str, object]
    """What a model is told."""


class ManifestCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What was found."""

    problems: tuple[ManifestProblem, ...] = ()
    warnings: tuple[str, ...] = ()
    tools: tuple[CheckedTool, ...] = ()


def checked_manifest(path: Path) -> ManifestCheck:
    """Everything that is wrong with a manifest, and its tools if its format is right."""
    content = content_of(path)
    if isinstance(content, ManifestProblem):
        return ManifestCheck(problems=(content,))
    folder = folder_of(path)
    faults, entries = look_through(content, folder)
    found = Manifest(folder=folder, entries=tuple(entries.values()))
    tools = manifest_tools(found, DEFAULTS)
    places = places_of({"workspace": [str(Path.cwd())]}, DiskPaths())
    wrong = (
        (index, entry, words)
        for (index, entry), tool in zip(entries.items(), tools, strict=True)
        for words in _wrong_with(entry, tool, places)
    )
    unworkable = (
        ManifestProblem(
            text=f"tool[{index}] {quoted(entry.name)}: {words}", index=index, name=entry.name
        )
        for index, entry, words in wrong
    )
    doubts = (text for tool in tools for text in _doubts(tool))
    return ManifestCheck(
        problems=(*faults, *unworkable),
        warnings=(*key_doubts(content), *doubts, *_starts(found)),
        # One entry that is no entry leaves a manifest without tools.
        tools=() if faults else tuple(map(_checked, found.entries, tools)),
    )


def _wrong_with(entry: ManifestEntry, tool: Tool, places: Places) -> list[str]:
    """What is right by the format, and does not work all the same."""
    wrong = [missing.text for missing in missing_programs((entry,))]
    try:
        compile_scope(tool.requires, places)
    except ValueError as problem:
        wrong.append(f"requires: {problem}")
    try:
        Catalog((tool,))
    except ToolDefinitionError as problem:
        wrong.append(str(problem).removeprefix(f"tool {entry.name!r}: "))
    return wrong


def _doubts(tool: Tool) -> list[str]:
    """What is had all the same, and not as its writer may think."""
    try:
        unchecked = Plan(tool).remarks
    except SchemaProblem:
        return []  # that is a problem, and told as one
    named = [] if _TAKEN_EVERYWHERE.fullmatch(tool.name) else [f"{tool.name}: {_ODD_NAME}"]
    return [
        *named,
        *lint.top_level_doubts(tool),
        *(f"{tool.name}: {remark}" for remark in unchecked),
    ]


def _starts(found: Manifest) -> list[str]:
    """What may keep programs from starting that are there and can be executed."""
    looked = ((entry, start_doubt(entry.command[0])) for entry in found.entries)
    return [f"{entry.name}: {said}" for entry, said in looked if said is not None]


def _checked(entry: ManifestEntry, tool: Tool) -> CheckedTool:
    properties = (entry.schema or {}).get("properties")
    named: JsonObject = properties if isinstance(properties, dict) else {}
    return CheckedTool(
        name=entry.name,
        description=entry.description,
        parameters=tuple(named),
        command=entry.command,
        seconds=seconds_of(entry, DEFAULTS),
        passed=entry.passed,
        requires=tool.requires,
        definition=function_definition(entry.name, entry.description, entry.schema),
    )
