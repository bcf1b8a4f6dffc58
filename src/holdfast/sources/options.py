"""What may be said of a tool beyond what its code says, and the `Tool` made of it.

One list of options for every source; where the body comes from is not known here.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import msgspec

from holdfast.contract.json_value import JsonObject, JsonValue, plain
from holdfast.contract.requirements import NOTHING_REQUIRED, RequirementSet, requirement_set
from holdfast.contract.tool import (
    DEFAULT_WALL_SECONDS,
    ArgumentUse,
    Body,
    Limits,
    Tool,
    ToolDefinitionError,
)
from holdfast.contract.tool_options import ResourceKey, ToolOptions

Find = Callable[[str, str], Iterable[str]]

OPTION_NAMES = frozenset(ToolOptions.__annotations__)

_AS_THEY_ARE = (
    "guard",
    *("uses_of", "asks_for", "person_decides"),
    *("ownership", "permission_policy", "read_only", "destructive", "interrupt_behavior"),
    *("acp_kind", "parallel_safe"),
)


_ON_TARGETS = ("fs.read", "fs.write", "shell.run", "net.fetch")
"""The capabilities that are used on something an argument names."""
_KINDS = frozenset(name.partition(".")[0] for name in _ON_TARGETS)


class Face(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is told of a tool."""

    name: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None = None


def check_options(options: Mapping[str, object], owner: str) -> None:
    """Refuse what is not an option, naming the nearest one."""
    for name in options:
        if name not in OPTION_NAMES:
            near = difflib.get_close_matches(name, OPTION_NAMES, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ToolDefinitionError(f"{owner}: there is no option {name!r}{hint}")


def schema_object(given: object, field: str, owner: str) -> JsonObject:
    """A schema handed in, detached from its giver."""
    if not isinstance(given, Mapping):
        raise ToolDefinitionError(f"{owner}: {field} must be a JSON Schema object, not {given!r}")
    return cast("JsonObject", plain(cast("Mapping[str, object]", given)))


def build_tool(face: Face, body: Body, options: ToolOptions) -> Tool:
    """Put a tool together; raises ToolDefinitionError naming the option at fault."""
    owner = f"tool {face.name!r}"
    chosen: dict[str, Any] = {key: options[key] for key in _AS_THEY_ARE if key in options}
    limits = options.get("limits", Limits())
    if not isinstance(cast("object", limits), Limits):
        raise ToolDefinitionError(f"{owner}: limits must be a Limits, not {limits!r}")
    bypasses: object = options.get("bypass_timeout", False)
    if not isinstance(bypasses, bool):
        raise ToolDefinitionError(
            f"{owner}: bypass_timeout must be True or False, not {bypasses!r}"
        )
    if bypasses or body.style == "inline":
        limits = msgspec.structs.replace(limits, wall_seconds=None)
    if limits.wall_seconds is not None and limits.wall_seconds > DEFAULT_WALL_SECONDS:
        raise ToolDefinitionError(
            f"{owner}: limits.wall_seconds is {limits.wall_seconds:g}, and a tool has"
            f" {DEFAULT_WALL_SECONDS:g} seconds at most; declare bypass_timeout=True where it keeps"
            " time itself"
        )
    return Tool(
        name=face.name,
        description=face.description,
        input_schema=face.input_schema,
        output_schema=face.output_schema,
        requires=_requires(options, owner),
        uses=_uses(options, face.input_schema, owner),
        guarded=_guarded(options, face.input_schema, owner),
        body=body,
        effects=_texts(options.get("effects", ()), "effects", owner),
        limits=limits,
        key_of=_resource_key(options, owner),
        keep_empty=_keep_empty(options, face.input_schema, owner),
        **chosen,
    )


def _requires(options: ToolOptions, owner: str) -> RequirementSet:
    declared: object = options.get("requires", NOTHING_REQUIRED)
    if not isinstance(declared, (Mapping, RequirementSet)):
        raise ToolDefinitionError(
            f"{owner}: requires must be a mapping or a RequirementSet, not {declared!r};"
            " a tool that needs nothing gives an empty one"
        )
    try:
        return requirement_set(cast("Mapping[str, object] | RequirementSet", declared))
    except ValueError as problem:
        said = str(problem).removeprefix("requires: ")
        raise ToolDefinitionError(f"{owner}: requires: {said}") from None


def _uses(options: ToolOptions, schema: JsonObject, owner: str) -> tuple[ArgumentUse, ...]:
    given: object = options.get("uses", {})
    if not isinstance(given, Mapping):
        raise ToolDefinitionError(
            f"{owner}: uses must map arguments to capabilities, not {given!r};"
            ' write for example uses={"path": "fs.write"}'
        )
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    finders = _finders(options, owner)
    found: list[ArgumentUse] = []
    for argument, named in cast("Mapping[str, str | Iterable[str]]", given).items():
        if argument not in known:
            raise ToolDefinitionError(f"{owner}: uses names {argument!r}, which is no argument")
        capabilities = (named,) if isinstance(named, str) else _texts(named, "uses", owner)
        for one in capabilities:
            if one not in _ON_TARGETS and one.partition(".")[0] in _KINDS:
                near = difflib.get_close_matches(one, _ON_TARGETS, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(_ON_TARGETS)}"
                raise ToolDefinitionError(f"{owner}: uses: there is no capability {one!r}; {hint}")
            found.append(ArgumentUse(argument=argument, capability=one, find=finders.get(argument)))
    return tuple(found)


def _finders(options: ToolOptions, owner: str) -> Mapping[str, Find]:
    finders = options.get("targets", {})
    for argument, find in finders.items():
        if argument not in options.get("uses", {}):
            raise ToolDefinitionError(f"{owner}: targets names {argument!r}, which uses does not")
        if not callable(find):
            raise ToolDefinitionError(
                f"{owner}: targets: {argument!r} needs a function, not {find!r}"
            )
    return finders


def _guarded(options: ToolOptions, schema: JsonObject, owner: str) -> frozenset[str]:
    names = frozenset(_texts(options.get("guarded", ()), "guarded", owner))
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    if unknown := names - known.keys():
        raise ToolDefinitionError(f"{owner}: guarded names {min(unknown)!r}, which is no argument")
    return names


def _resource_key(options: ToolOptions, owner: str) -> ResourceKey | None:
    key = options.get("resource_key")
    if key is not None and not callable(key):
        raise ToolDefinitionError(f"{owner}: resource_key must be a function of the arguments")
    return key


def _keep_empty(options: ToolOptions, schema: JsonObject, owner: str) -> frozenset[str]:
    names = frozenset(_texts(options.get("keep_empty", ()), "keep_empty", owner))
    if names and (unknown := names - _property_names(schema)):
        raise ToolDefinitionError(f"{owner}: keep_empty names {min(unknown)!r}, which is no field")
    return names


def _property_names(schema: JsonValue) -> set[str]:
    """The names of fields at every depth: an empty string may have a meaning in any of them."""
    if isinstance(schema, list):
        return set[str]().union(*map(_property_names, schema))
    if not isinstance(schema, dict):
        return set()
    declared = schema.get("properties")
    names = set(declared) if isinstance(declared, dict) else set[str]()
    return names.union(*map(_property_names, schema.values()))


def _texts(given: Iterable[Any], field: str, owner: str) -> tuple[Any, ...]:
    if isinstance(given, str) or not isinstance(cast("object", given), Iterable):
        raise ToolDefinitionError(f"{owner}: {field} must be a list of names, not {given!r}")
    return tuple(given)
