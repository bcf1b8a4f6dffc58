"""What the repairs need to know of a schema, compiled once per tool.

A shape is a graph of small nodes: a recursive schema gives a cycle, and the depth of the arguments
bounds every walk. It knows nothing of values.
"""

from typing import Literal, cast

import msgspec

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.preflight.schema import resolve

Kind = Literal["object", "array", "string", "integer", "number", "boolean"]

_KINDS = frozenset({"object", "array", "string", "integer", "number", "boolean"})


class Shape:
    """One place in the arguments that repairs may touch."""

    __slots__ = (
        "by_spelling",
        "camel",
        "enum",
        "enum_spelling",
        "items",
        "keep_empty",
        "kind",
        "nullable",
        "prefix",
        "properties",
        "required",
    )

    def __init__(self) -> None:
        self.kind: Kind | None = None
        self.nullable = False
        self.enum: list[JsonValue] | None = None
        self.enum_spelling: dict[str, str] = {}
        self.properties: dict[str, Shape] = {}
        self.required: tuple[str, ...] = ()
        self.by_spelling: dict[str, list[str]] = {}
        self.camel: dict[str, str] = {}
        """Declared names by their camelCase spelling, where it is accepted for optional ones."""
        self.items: Shape | None = None
        self.prefix: tuple[Shape, ...] = ()
        self.keep_empty: frozenset[str] = frozenset()


def shape_of(
    schema: JsonObject, *, keep_empty: frozenset[str] = frozenset(), camel: bool = False
) -> Shape:
    """Compile the shape of a tool's arguments from its effective schema.

    ``camel``: its own arguments, and no others, may be spelled in camelCase.
    """
    shape = _Compiler(schema, keep_empty).compile(schema)
    if camel:
        shape.camel = {camel_of(name): name for name in shape.properties if "_" in name.strip("_")}
    return shape


def camel_of(name: str) -> str:
    """A snake_case name in camelCase."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def spelling(key: str) -> str:
    """A key's letters and digits in lower case: what two spellings of one name share."""
    return "".join(character for character in key.lower() if character.isalnum())


class _Compiler:
    def __init__(self, root: JsonObject, keep_empty: frozenset[str]) -> None:
        self._root = root
        self._keep_empty = keep_empty
        self._known: dict[bytes, Shape] = {}

    def compile(self, node: JsonValue) -> Shape:
        if not isinstance(node, dict):
            return Shape()
        # By what is written there: what stands beside a reference is part of the shape.
        written = msgspec.json.encode(node)
        if written not in self._known:
            # Entered before it is filled, so that a recursive schema finds itself.
            self._known[written] = Shape()
            self._fill(self._known[written], resolve(self._root, node))
        return self._known[written]

    def _fill(self, shape: Shape, node: JsonObject) -> None:
        if is_alternative(node):
            return
        _fill_type(shape, node)
        _fill_enum(shape, node)
        properties = node.get("properties")
        if isinstance(properties, dict) and (shape.kind == "object" or "type" not in node):
            shape.kind = "object"
            shape.keep_empty = self._keep_empty
            shape.properties = {name: self.compile(child) for name, child in properties.items()}
            for name in shape.properties:
                shape.by_spelling.setdefault(spelling(name), []).append(name)
        required = node.get("required")
        if isinstance(required, list):
            shape.required = tuple(name for name in required if isinstance(name, str))
        items = node.get("items")
        if isinstance(items, dict):
            shape.items = self.compile(items)
        prefix = node.get("prefixItems")
        if isinstance(prefix, list):
            shape.prefix = tuple(self.compile(child) for child in prefix)


def is_alternative(node: JsonObject) -> bool:
    """Whether values here are under alternatives: those are never repaired."""
    return "anyOf" in node and "properties" not in node


def _fill_type(shape: Shape, node: JsonObject) -> None:
    declared = node.get("type")
    names = declared if isinstance(declared, list) else [declared]
    shape.nullable = "null" in names
    kinds = [name for name in names if isinstance(name, str) and name in _KINDS]
    if len(kinds) == 1:
        shape.kind = cast("Kind", kinds[0])


def _fill_enum(shape: Shape, node: JsonObject) -> None:
    values = node.get("enum")
    if not isinstance(values, list):
        return
    shape.enum = values
    shape.nullable = None in values and (shape.nullable or "type" not in node)
    for value in values:
        if isinstance(value, str):
            shape.enum_spelling.setdefault(value.casefold(), value)
