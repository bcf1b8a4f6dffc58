"""Arguments that need no repair, as a schema: one compiled check decides the fast path.

The clean schema accepts a subset of what the effective schema accepts: exactly the valid arguments
that no repair would touch. Most calls are clean and pay for nothing else. Whole floats for integers
are the one thing a schema cannot tell from integers; `WholeFloats` looks for those.
"""

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.preflight import repair
from holdfast.preflight.literals import WHITE_SPACE, is_blank
from holdfast.preflight.schema import (
    SchemaNode,
    in_every_subschema,
    only_annotations,
    pointed,
    with_single_all_of,
)
from holdfast.preflight.shape import Shape, is_alternative

NOT_BLANK: JsonObject = {"pattern": "[^" + "".join(f"\\u{ord(c):04x}" for c in WHITE_SPACE) + "]"}
NOT_THE_WORD_NULL: JsonObject = {"not": {"const": "null"}}
_NOT_TEXT: JsonObject = {"not": {"type": "string"}}
_MAX_NODES = 2_000
_MAX_REFERENCES = 5


class _NeedsReferences(Exception):
    """Raised and caught inside this module: the schema cannot be written without references."""


def clean_schema(effective: JsonObject, keep_empty: frozenset[str]) -> JsonObject | None:
    """The schema of arguments that need no repair; None when it cannot be written down."""
    try:
        root = _Inliner(effective).inline(effective, ())
    except (_NeedsReferences, RecursionError):
        return None
    return None if isinstance(root, bool) else _clean(root, keep_empty)


class _Inliner:
    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._nodes = 0

    def inline(self, node: SchemaNode, inside: tuple[str, ...]) -> SchemaNode:
        self._nodes += 1
        if self._nodes > _MAX_NODES or len(inside) > _MAX_REFERENCES:
            raise _NeedsReferences
        if isinstance(node, bool):
            return node
        if "$dynamicRef" in node:
            raise _NeedsReferences
        reference = node.get("$ref")
        if isinstance(reference, str):
            target = pointed(self._root, reference)
            alone = only_annotations(node.keys() - {"$ref"})
            if reference in inside or not alone or not isinstance(target, (dict, bool)):
                raise _NeedsReferences
            return self.inline(target, (*inside, reference))
        inlined = {
            keyword: value
            for keyword, value in node.items()
            if keyword not in {"$defs", "definitions"}
        }

        def below(child: JsonValue, _name: str) -> JsonValue:
            return self.inline(child, inside) if isinstance(child, dict) else child

        in_every_subschema(inlined, below)
        return inlined


def _clean(node: JsonObject, keep_empty: frozenset[str]) -> JsonObject:
    node = with_single_all_of(node)
    if is_alternative(node):
        return node
    clean = dict(node)
    names = _type_names(node)
    properties = node.get("properties")
    if isinstance(properties, dict) and names <= {"object", "null"}:
        clean["properties"] = _clean_properties(node, properties, keep_empty)
        if not names:
            clean = _and(clean, _NOT_TEXT)
    items = node.get("items")
    if isinstance(items, dict):
        clean["items"] = _clean(items, keep_empty)
    prefix = node.get("prefixItems")
    if isinstance(prefix, list):
        clean["prefixItems"] = [
            _clean(child, keep_empty) if isinstance(child, dict) else child for child in prefix
        ]
    if "null" in names and "string" in names:
        clean = _and(clean, NOT_THE_WORD_NULL)
    return clean


def _clean_properties(
    node: JsonObject, properties: JsonObject, keep_empty: frozenset[str]
) -> JsonObject:
    required = node.get("required")
    needed = required if isinstance(required, list) else []
    clean: JsonObject = {}
    for name, child in properties.items():
        if not isinstance(child, dict):
            clean[name] = child
            continue
        clean[name] = _clean(child, keep_empty)
        if name not in needed and name not in keep_empty and _may_be_empty_filler(child):
            clean[name] = _and(_clean(child, keep_empty), NOT_BLANK)
    if node.get("additionalProperties") is not False or "patternProperties" in node:
        # A closed object refuses an undeclared wrapper by itself.
        for wrapper in repair.WRAPPERS:
            clean.setdefault(wrapper, False)
    return clean


def _may_be_empty_filler(child: JsonObject) -> bool:
    child = with_single_all_of(child)
    if is_alternative(child) or _type_names(child) - {"null"} != {"string"}:
        return False
    enum = child.get("enum")
    declared = enum if isinstance(enum, list) else []
    return not any(isinstance(value, str) and is_blank(value) for value in declared)


def _type_names(node: JsonObject) -> set[str]:
    declared = node.get("type")
    names = declared if isinstance(declared, list) else [declared]
    return {name for name in names if isinstance(name, str)}


def _and(node: JsonObject, further: JsonObject) -> JsonObject:
    if any(keyword in node for keyword in further):
        return {"allOf": [node, further]}
    return {**node, **further}


class WholeFloats:
    """Finds a float where an integer is declared; visits only places that can hold one."""

    __slots__ = ("_below", "_here", "_integers", "_items")

    def __init__(self, shape: Shape, *, decoded: frozenset[str] = frozenset()) -> None:
        self._here = shape.kind == "integer"
        # What is decoded refuses such a float by itself, and then takes the careful path.
        spots = {
            name: WholeFloats(child)
            for name, child in shape.properties.items()
            if name not in decoded
        }
        # Integers directly below are looked at without a call each: this runs for every call.
        self._integers = tuple(name for name, spot in spots.items() if spot._here)
        self._below = tuple(
            (name, spot) for name, spot in spots.items() if spot.possible and not spot._here
        )
        items = [*shape.prefix, *([shape.items] if shape.items else [])]
        self._items = [spot for spot in map(WholeFloats, items) if spot.possible]

    @property
    def possible(self) -> bool:
        """Whether there is anything to look for."""
        return self._here or bool(self._integers or self._below or self._items)

    def found_in(self, value: JsonValue) -> bool:
        """Whether the value holds such a float."""
        if isinstance(value, dict):
            for name in self._integers:
                if type(value.get(name)) is float:
                    return True
            return bool(self._below) and any(
                name in value and spot.found_in(value[name]) for name, spot in self._below
            )
        if isinstance(value, list):
            return any(spot.found_in(item) for item in value for spot in self._items)
        return self._here and type(value) is float
