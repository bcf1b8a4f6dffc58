"""docs/reference/tools.md: every built-in tool of every profile, with what it takes."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from holdfast import Holdfast
from holdfast.app.configuration import load_configuration
from holdfast.app.profiles import PROFILES, TOOLSETS
from holdfast.contract.json_value import encode_json, plain
from holdfast.contract.tool import Tool
from reference_pages.shapes import one_line, table

_Schema = Mapping[str, Any]
_MOST_ENUM = 12


def page() -> str:
    """The whole page."""
    by_profile = {name: _tools_of(name) for name in PROFILES}
    lines = [
        "# Every built-in tool",
        "",
        "Which toolset a profile has: [the built-in tools](../builtin-tools.md). Arguments are",
        "[repaired](../preflight.md) before they are checked.",
        "",
        *table(
            ("profile", "tools"), ((f"`{name}`", str(len(by_profile[name]))) for name in by_profile)
        ),
    ]
    for toolset in TOOLSETS:
        lines += [f"## {toolset}", ""]
        for builtin in TOOLSETS[toolset]:
            lines += _told(builtin.name, by_profile)
    return "\n".join(lines)


def _tools_of(profile: str) -> dict[str, Tool]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        environment = {"HOLDFAST_HOME": folder, "HOME": folder}
        configuration = load_configuration(home, environment=environment)
        return {
            one.name: one for one in Holdfast(profile=profile, configuration=configuration).tools
        }


def _told(name: str, by_profile: Mapping[str, Mapping[str, Tool]]) -> list[str]:
    """A tool; once more where a profile has it in another form."""
    forms: dict[bytes, tuple[Tool, list[str]]] = {}
    for profile, tools in by_profile.items():
        if (one := tools.get(name)) is not None:
            key = encode_json([_kind(one), one.description, plain(one.input_schema)])
            forms.setdefault(key, (one, []))[1].append(profile)
    lines = [f"### `{name}`", ""]
    said: str | None = None
    for tool, profiles in forms.values():
        where = ", ".join(f"`{one}`" for one in profiles)
        lines += [f"In {where}. {_kind(tool)}", ""]
        if tool.description != said:
            said = tool.description
            lines += [*_quoted(said), ""]
        rows = list(_arguments(tool.input_schema))
        lines += (
            table(("argument", "type", "default", "meaning"), rows)
            if rows
            else ["No arguments.", ""]
        )
    return lines


def _kind(tool: Tool) -> str:
    words = "Reads only" if tool.read_only else "May change something"
    if tool.permission_policy == "always_ask":
        words += "; asks"
    time = tool.limits.wall_seconds
    return f"{words}; {'no time limit' if time is None else f'{time:g} s'}."


def _quoted(text: str | None) -> list[str]:
    return [f"> {line}".rstrip() for line in (text or "").replace("<", "&lt;").splitlines()]


def _arguments(schema: _Schema) -> Iterator[tuple[str, ...]]:
    needed = schema.get("required", [])
    properties = cast("Mapping[str, _Schema]", schema.get("properties", {}))
    for name, one in properties.items():
        default = "needed" if name in needed else "none"
        if one.get("default") is not None:
            default = f"`{encode_json(one['default']).decode()}`"
        yield f"`{name}`", _type(one), default, one_line(one.get("description"))


def _type(schema: _Schema) -> str:
    if "enum" in schema:
        values = [f"`{one}`" for one in schema["enum"] if one is not None]
        return " or ".join(values[:_MOST_ENUM])
    if "anyOf" in schema:
        parts = [_type(one) for one in schema["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(parts))
    kind: str | list[str] = schema.get("type", "object" if "$ref" in schema else "any value")
    kinds = [one for one in ([kind] if isinstance(kind, str) else kind) if one != "null"]
    told = " or ".join(kinds)
    if kinds == ["array"] and "items" in schema:
        told = f"array of {_type(schema['items'])}"
    bounds = [
        f"{sign} {schema[key]}"
        for key, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"))
        if key in schema
    ]
    return " ".join((told, *bounds))
