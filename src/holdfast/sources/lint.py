"""Warnings about schemas handed in from elsewhere: legal, but a model or provider will stumble.

It judges schemas only; nothing is changed and nothing is refused here.
"""

from collections.abc import Iterator

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.tool import Tool

_REFUSED_AT_TOP = ("anyOf", "oneOf", "allOf", "enum", "not")
_SUBSCHEMA = (
    *("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
_SUBSCHEMA_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SUBSCHEMA_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def lint(tool: Tool) -> list[str]:
    """What is doubtful about the tool's input schema; nothing for a derived one."""
    schema = tool.input_schema
    warnings = top_level_doubts(tool)
    for path, node in _nodes(schema, ""):
        warnings += [
            f"{tool.name}: {path or 'the top level'}: {text}" for text in _doubts(path, node)
        ]
    return warnings


def top_level_doubts(tool: Tool) -> list[str]:
    """What providers refuse at the top level of a schema."""
    return [
        f"{tool.name}: {keyword} at the top level: providers refuse such schemas;"
        " check the rule in the body"
        for keyword in _REFUSED_AT_TOP
        if keyword in tool.input_schema
    ]


def _doubts(path: str, node: JsonObject) -> Iterator[str]:
    # Below the top, an object without named fields is a mapping: open by its nature.
    if (not path or "properties" in node) and node.get("additionalProperties") is not False:
        yield "the object is not closed; set additionalProperties to false"
    properties, required = node.get("properties"), node.get("required")
    if isinstance(properties, dict) and isinstance(required, list):
        for name in required:
            if name not in properties and node.get("additionalProperties") is False:
                yield f"{name!r} is required but not declared; no call can be accepted"
            elif name not in properties:
                yield f"{name!r} is required but not declared"


def _nodes(node: JsonValue, path: str) -> Iterator[tuple[str, JsonObject]]:
    """Every schema in the schema, with the way to it."""
    open_nodes: list[tuple[str, JsonValue]] = [(path, node)]
    while open_nodes:
        here, schema = open_nodes.pop()
        if isinstance(schema, dict):
            yield here, schema
            open_nodes += reversed(list(_children(schema, here)))


def _children(schema: JsonObject, path: str) -> Iterator[tuple[str, JsonValue]]:
    for keyword in _SUBSCHEMA_MAPS:
        named = schema.get(keyword)
        if isinstance(named, dict):
            for name, child in named.items():
                yield f"{path}.{name}" if path else name, child
    for keyword in _SUBSCHEMA:
        if keyword in schema:
            yield f"{path}.{keyword}" if path else keyword, schema[keyword]
    for keyword in _SUBSCHEMA_LISTS:
        members = schema.get(keyword)
        if isinstance(members, list):
            for at, child in enumerate(members):
                yield f"{path}.{keyword}[{at}]" if path else f"{keyword}[{at}]", child
