"""Schemas put together: alternatives, null, and what is said beside a type.

Schemas in, schemas out. Providers and repairs both like a list of types better than `anyOf`, so
`anyOf` is the last resort.
"""

from typing import cast

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.sources.shapes import Facts

_SCALARS = frozenset({"string", "integer", "number", "boolean"})
_LENGTHS = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}


def is_scalar(value: object) -> bool:
    """Whether JSON holds the value without a container."""
    return value is None or isinstance(value, (bool, int, float, str))


def json_type(value: object) -> str:
    """The JSON Schema type of a scalar value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case _:
            return "string"


def closed_set(values: list[JsonValue]) -> JsonObject:
    """An enum that also declares its type."""
    # Python holds 1 and True for equal; JSON does not.
    distinct = {(json_type(value), repr(value)): value for value in values}
    return {"type": _one_or_list([name for name, _ in distinct]), "enum": [*distinct.values()]}


def any_of(members: list[JsonObject]) -> JsonObject:
    """One schema for several alternatives."""
    distinct: list[JsonObject] = []
    for member in _flattened(members):
        if member not in distinct:
            distinct.append(member)
    if {} in distinct:
        return {}
    rest = [member for member in distinct if member != {"type": "null"}]
    if not rest:
        return {"type": "null"}
    merged = _merged(rest)
    return _nullable(merged) if len(rest) < len(distinct) else merged


def _flattened(members: list[JsonObject]) -> list[JsonObject]:
    flat: list[JsonObject] = []
    for member in members:
        inner = member.get("anyOf")
        if len(member) == 1 and isinstance(inner, list):
            flat.extend(cast("list[JsonObject]", inner))
        else:
            flat.append(member)
    return flat


def _merged(members: list[JsonObject]) -> JsonObject:
    if len(members) == 1:
        return dict(members[0])
    if all(_is_plain_scalar(member) for member in members):
        return {"type": _one_or_list([name for member in members for name in types_of(member)])}
    if all(member.keys() == {"type", "enum"} for member in members):
        values: list[JsonValue] = []
        for member in members:
            values.extend(cast("list[JsonValue]", member["enum"]))
        return closed_set(values)
    return {"anyOf": [*members]}


def _is_plain_scalar(schema: JsonObject) -> bool:
    return schema.keys() == {"type"} and all(name in _SCALARS for name in types_of(schema))


def _nullable(schema: JsonObject) -> JsonObject:
    alternatives = schema.get("anyOf")
    if isinstance(alternatives, list):
        return {**schema, "anyOf": [*alternatives, {"type": "null"}]}
    if "type" not in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    widened = {**schema, "type": _one_or_list([*types_of(schema), "null"])}
    values = schema.get("enum")
    if isinstance(values, list) and None not in values:
        widened["enum"] = [*values, None]
    return widened


def types_of(schema: JsonObject) -> list[str]:
    """Every JSON type the schema names, also in its alternatives."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return [declared]
    if isinstance(declared, list):
        return [name for name in declared if isinstance(name, str)]
    alternatives = schema.get("anyOf")
    if isinstance(alternatives, list):
        return [name for one in alternatives if isinstance(one, dict) for name in types_of(one)]
    return []


def _one_or_list(names: list[str]) -> JsonValue:
    distinct = list(dict.fromkeys(names))
    # Every integer is a number; saying both would only keep repairs from applying.
    if "number" in distinct and "integer" in distinct:
        distinct.remove("integer")
    return distinct[0] if len(distinct) == 1 else [*distinct]


def qualified(schema: JsonObject, facts: Facts) -> JsonObject:
    """Add what an annotation says beside the type."""
    result = {**schema, **facts.bounds}
    for name in types_of(schema):
        least, most = _LENGTHS.get(name, ("", ""))
        if least and facts.min_length is not None:
            result[least] = facts.min_length
        if most and facts.max_length is not None:
            result[most] = facts.max_length
    if facts.pattern is not None:
        result["pattern"] = facts.pattern
    if facts.description is not None:
        result["description"] = facts.description
    return {**result, **facts.extra}
