"""Tools from plain objects: anything that has the published fields.

The body gets its arguments as a dict, as they are after the schema check.
"""

from collections.abc import Mapping
from typing import Protocol, cast

from holdfast.contract.json_value import JsonObject
from holdfast.contract.requirements import RequirementSet
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Body, Tool, ToolDefinitionError
from holdfast.contract.tool_options import ToolOptions
from holdfast.sources.options import OPTION_NAMES, Face, build_tool, schema_object
from holdfast.sources.styles import run_style

_MISSING = object()

_PUBLISHED = {
    "id": ("id", "name"),
    "description": ("description",),
    "parameters": ("parameters", "input_schema"),
    "requires": ("requires",),
    "execute": ("execute",),
}
"""Each field with the spellings it may have."""

_READ_APART = frozenset({"name", "description", "input_schema", "output_schema", "inline"})


class ToolObject(Protocol):
    """What an object has to have to be a tool. ``execute`` may be a coroutine function.

    Instead of ``id`` it may have ``name``, instead of ``parameters`` ``input_schema``. Every
    option of `ToolOptions` may be there as a further attribute.
    """

    @property
    def id(self) -> str:
        """The name a model calls it by; the same in every agent and session."""
        ...

    @property
    def description(self) -> str:
        """What a model reads when choosing."""
        ...

    @property
    def parameters(self) -> Mapping[str, object]:
        """JSON Schema of the arguments."""
        ...

    @property
    def requires(self) -> Mapping[str, object] | RequirementSet:
        """What it needs from the world; an explicitly empty set for nothing."""
        ...

    def execute(self, args: dict[str, object], runtime: Runtime, /) -> object:
        """Run."""
        ...


def looks_like_tool_object(candidate: object) -> bool:
    """Whether an object was meant as a tool: it can be executed, or has most of the fields."""
    present = [field for field in _PUBLISHED if _found(candidate, field) is not _MISSING]
    return "execute" in present or len(present) > 1


def tool_from_object(candidate: object) -> Tool:
    """Take the object's fields; a missing one is named in the ToolDefinitionError."""
    if isinstance(candidate, type):
        raise ToolDefinitionError(f"{candidate.__name__} is a class; register an instance of it")
    owner = f"tool object {type(candidate).__name__}"
    name = _text(candidate, "id", owner)
    owner = f"tool {name!r}"
    description = _text(candidate, "description", owner)
    schema = schema_object(_field(candidate, "parameters", owner), "parameters", owner)
    _field(candidate, "requires", owner)
    execute = _field(candidate, "execute", owner)
    if not callable(execute):
        raise ToolDefinitionError(f"{owner}: execute must be callable with (args, runtime)")
    face = Face(
        name=name,
        description=description,
        input_schema=schema,
        output_schema=_output_schema(candidate, owner),
    )
    inline = getattr(candidate, "inline", False) is True
    body = Body(
        style=run_style(execute, owner, inline=inline),
        # A copy: the body may do with it what it likes.
        invoke=lambda values, runtime: execute(dict(values), runtime),
    )
    return build_tool(face, body, _options(candidate))


def _found(candidate: object, field: str) -> object:
    for spelling in _PUBLISHED[field]:
        value: object = getattr(candidate, spelling, _MISSING)
        if value is not _MISSING:
            return value
    return _MISSING


def _field(candidate: object, field: str, owner: str) -> object:
    value = _found(candidate, field)
    if value is _MISSING or value is None:
        spelled = " (or ".join(_PUBLISHED[field]) + ")" * (len(_PUBLISHED[field]) - 1)
        raise ToolDefinitionError(f"{owner}: the field {spelled} is missing")
    return value


def _text(candidate: object, field: str, owner: str) -> str:
    value = _field(candidate, field, owner)
    if not isinstance(value, str) or not value.strip():
        raise ToolDefinitionError(f"{owner}: {field} must be a text that says something")
    return value


def _output_schema(candidate: object, owner: str) -> JsonObject | None:
    given: object = getattr(candidate, "output_schema", None)
    return None if given is None else schema_object(given, "output_schema", owner)


def _options(candidate: object) -> ToolOptions:
    present = {
        name: value
        for name in OPTION_NAMES - _READ_APART
        if (value := getattr(candidate, name, None)) is not None
    }
    return cast("ToolOptions", present)
