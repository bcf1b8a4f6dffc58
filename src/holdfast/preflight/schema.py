"""Schemas as we enforce them: JSON Schema 2020-12 with the published leniencies made explicit.

What is changed before compiling, and why, is one function per rule below. The schema a model is
shown stays as it was given. This module compiles; it neither repairs nor words messages.
"""

from collections.abc import Callable, Iterable
from typing import cast

import jsonschema_rs
import msgspec

from holdfast.contract.json_value import JsonObject, JsonValue

SchemaNode = JsonObject | bool

TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
MAX_SCHEMA_DEPTH = 64

_SUBSCHEMA = (
    *("items", "contains", "not", "if", "then", "else", "propertyNames"),
    *("unevaluatedItems", "unevaluatedProperties", "contentSchema"),
)
_SUBSCHEMA_LISTS = ("allOf", "anyOf", "prefixItems")
_SUBSCHEMA_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SPEAKS_OF_NULL = ("type", "enum", "const", "$ref", "allOf", "anyOf", "oneOf")

_NOT_NULL: JsonObject = {"not": {"type": "null"}}

_SAYS_NOTHING = frozenset(
    {
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),
        *("$comment", "$defs", "definitions"),
    }
)


class SchemaProblem(ValueError):
    """The schema cannot be enforced; the message says why."""


class Effective(msgspec.Struct, frozen=True):
    """A schema ready to be enforced, and what had to be left out of it."""

    schema: JsonObject
    remarks: tuple[str, ...]


def compile_validator(schema: JsonObject) -> jsonschema_rs.Draft202012Validator:
    """Compile; never reaches for the network."""
    try:
        return jsonschema_rs.Draft202012Validator(schema, validate_formats=False, offline=True)
    except ValueError as problem:
        first = str(problem).partition("\n")[0]
        raise SchemaProblem(f"not a usable JSON Schema: {first}") from None


def effective_schema(given: object) -> Effective:
    """Make explicit what the published rules say beside the letter of JSON Schema."""
    if not isinstance(given, dict):
        raise SchemaProblem("Schema must be an object")
    root = cast("JsonObject", given)
    remarks: list[str] = []
    return Effective(_Rewriting(root, remarks.append).object(root, "", 0), tuple(remarks))


class _Rewriting:
    def __init__(self, root: JsonObject, remark: Callable[[str], None]) -> None:
        self._root = root
        self._remark = remark

    def object(self, given: JsonObject, path: str, depth: int) -> JsonObject:
        if depth > MAX_SCHEMA_DEPTH:
            raise SchemaProblem(f"the schema nests more than {MAX_SCHEMA_DEPTH} levels deep")
        schema = dict(given)
        schema.pop("$id", None)
        schema.pop("$schema", None)
        _branches_are_alternatives(schema)
        _tuples_are_prefix_items(schema)
        _unknown_types_are_ignored(schema, path, self._remark)
        _bad_patterns_are_ignored(schema, path, self._remark)
        _only_false_closes(schema)

        def below(child: JsonValue, name: str) -> JsonValue:
            return self._below(child, f"{path}.{name}" if path else name, depth + 1)

        in_every_subschema(schema, below)
        _null_counts_as_missing(schema, self._root)
        return schema

    def _below(self, given: JsonValue, path: str, depth: int) -> SchemaNode:
        if isinstance(given, bool):
            return given
        if not isinstance(given, dict):
            raise SchemaProblem(f"the schema at {path} is not an object")
        return self.object(given, path, depth)


def in_every_subschema(schema: JsonObject, below: Callable[[JsonValue, str], JsonValue]) -> None:
    """Put in the place of each schema directly inside this one what ``below`` makes of it."""
    for keyword in _SUBSCHEMA:
        if keyword in schema:
            schema[keyword] = below(schema[keyword], keyword)
    for keyword in _SUBSCHEMA_LISTS:
        branches = schema.get(keyword)
        if isinstance(branches, list):
            schema[keyword] = [
                below(branch, f"{keyword}[{i}]") for i, branch in enumerate(branches)
            ]
    for keyword in _SUBSCHEMA_MAPS:
        named = schema.get(keyword)
        if isinstance(named, dict):
            schema[keyword] = {name: below(child, name) for name, child in named.items()}


def _branches_are_alternatives(schema: JsonObject) -> None:
    """The first matching branch of a oneOf is enough, as for anyOf."""
    one_of = schema.pop("oneOf", None)
    if one_of is None:
        return
    if "anyOf" in schema:
        every = schema.get("allOf")
        schema["allOf"] = [*(every if isinstance(every, list) else []), {"anyOf": one_of}]
    else:
        schema["anyOf"] = one_of


def _tuples_are_prefix_items(schema: JsonObject) -> None:
    """Older drafts write a tuple as a list under items."""
    if isinstance(schema.get("items"), list):
        schema["prefixItems"] = schema.pop("items")
        if "additionalItems" in schema:
            schema["items"] = schema.pop("additionalItems")


def _unknown_types_are_ignored(
    schema: JsonObject, path: str, remark: Callable[[str], None]
) -> None:
    declared = schema.get("type")
    if isinstance(declared, str):
        names: list[JsonValue] = [declared]
    elif isinstance(declared, list):
        names = declared
    else:
        return
    known: list[JsonValue] = [name for name in names if isinstance(name, str) and name in TYPES]
    for name in names:
        if name not in known:
            remark(f"{path or 'the schema'}: there is no type {name!r}; it is not checked")
    if not known:
        del schema["type"]
    elif isinstance(declared, list):
        schema["type"] = known


def _bad_patterns_are_ignored(schema: JsonObject, path: str, remark: Callable[[str], None]) -> None:
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and not _compiles(pattern):
        del schema["pattern"]
        remark(f"{path or 'the schema'}: the pattern {pattern!r} is not a valid regular expression")
    named = schema.get("patternProperties")
    if isinstance(named, dict):
        for name in [name for name in named if not _compiles(name)]:
            named = {key: value for key, value in named.items() if key != name}
            remark(
                f"{path or 'the schema'}: the pattern {name!r} is not a valid regular expression"
            )
        schema["patternProperties"] = named


def _compiles(pattern: str) -> bool:
    try:
        compile_validator({"pattern": pattern})
    except SchemaProblem:
        return False
    return True


def _only_false_closes(schema: JsonObject) -> None:
    """Only the literal false refuses extra keys; any other value lets them through unchanged."""
    if schema.get("additionalProperties") is not False:
        schema.pop("additionalProperties", None)


def _null_counts_as_missing(schema: JsonObject, root: JsonObject) -> None:
    """A required property that is null is missing, unless its schema speaks of null itself."""
    required = schema.get("required")
    if not isinstance(required, list):
        return
    declared = schema.get("properties")
    properties: JsonObject = dict(declared) if isinstance(declared, dict) else {}
    undeclared: JsonObject = {}
    for name in required:
        if isinstance(name, str) and name in properties:
            properties[name] = _not_null(properties[name], root)
        elif isinstance(name, str):
            undeclared[name] = _NOT_NULL
    if properties:
        schema["properties"] = properties
    if undeclared:
        # Beside the properties, not among them: a name stays undeclared for every other rule.
        every = schema.get("allOf", [])
        schema["allOf"] = [*(every if isinstance(every, list) else []), {"properties": undeclared}]


def _not_null(child: JsonValue, root: JsonObject) -> JsonValue:
    if not isinstance(child, dict):
        return _NOT_NULL if child is True else child
    node = resolve(root, child)
    if any(keyword in node for keyword in _SPEAKS_OF_NULL):
        return child
    return {**child, "allOf": [_NOT_NULL]} if "not" in child else {**child, **_NOT_NULL}


def resolve(root: JsonObject, node: JsonObject) -> JsonObject:
    """Follow local references, or a chain of them; siblings of the reference count too."""
    for _ in range(MAX_SCHEMA_DEPTH):
        node = with_single_all_of(node)
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return node
        target = pointed(root, reference)
        if not isinstance(target, dict):
            return node
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    raise SchemaProblem("the schema's references form a loop without a schema in it")


def pointed(root: JsonObject, reference: str) -> JsonValue:
    """What a local reference points at; None when that is not in this schema."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    here: JsonValue = root
    for step in reference.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(here, dict) or name not in here:
            return None
        here = here[name]
    return here


def with_single_all_of(node: JsonObject) -> JsonObject:
    """Read an allOf of one schema as that schema, if nothing beside it narrows it further."""
    every = node.get("allOf")
    if isinstance(every, list) and len(every) == 1 and isinstance(every[0], dict):
        beside = {key: value for key, value in node.items() if key != "allOf"}
        if only_annotations(beside):
            return with_single_all_of({**every[0], **beside})
    return node


def only_annotations(keywords: Iterable[str]) -> bool:
    """Whether none of the keywords says anything about a value."""
    return _SAYS_NOTHING.issuperset(keywords)
