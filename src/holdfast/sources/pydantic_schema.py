"""The schema a pydantic model gives for itself, rewritten to our rules.

References are inlined, objects with named fields closed (also where the model would allow extra
fields), titles dropped, and optional values written as a list of types. pydantic itself is never
imported: a model is known by its methods.
"""

from typing import Protocol, TypeGuard, cast

from holdfast.contract.json_value import JsonObject, JsonValue, plain
from holdfast.sources.merging import any_of, closed_set, is_scalar

_REFERENCE = "#/$defs/"
_DROPPED = frozenset({"title", "$defs", "discriminator", "$ref", "allOf", "anyOf", "oneOf"})
_SUBSCHEMA = frozenset(
    {"items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"}
)
_SUBSCHEMA_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})


class PydanticModel(Protocol):
    """The methods of a model class that matter here."""

    def model_json_schema(self, *, by_alias: bool, mode: str) -> dict[str, object]:
        """Describe."""
        ...

    def model_validate(self, obj: object) -> object:
        """Build an instance, or raise."""
        ...


class UnusableModel(ValueError):
    """The model's schema cannot be used; the message says why."""


def is_model(kind: object) -> TypeGuard[PydanticModel]:
    """Whether a class is a pydantic model."""
    return (
        isinstance(kind, type)
        and hasattr(kind, "model_json_schema")
        and hasattr(kind, "model_validate")
    )


def model_schema(model: PydanticModel, *, outgoing: bool) -> JsonObject:
    """Our form of the model's schema, as it is accepted or, outgoing, as it is written."""
    mode = "serialization" if outgoing else "validation"
    try:
        given = model.model_json_schema(by_alias=not outgoing, mode=mode)
    except (RuntimeError, TypeError, ValueError, NameError) as problem:
        raise UnusableModel(f"the model has no JSON Schema: {problem}") from None
    schema = cast("JsonObject", plain(given))
    definitions = schema.get("$defs")
    return _rewritten(schema, definitions if isinstance(definitions, dict) else {}, ())


def _rewritten(node: JsonObject, definitions: JsonObject, inside: tuple[str, ...]) -> JsonObject:
    result: JsonObject = {}
    for key, value in node.items():
        if key in _DROPPED:
            continue
        if key in _SUBSCHEMA:
            result[key] = _child(value, definitions, inside)
        elif key in _SUBSCHEMA_MAPS and isinstance(value, dict):
            result[key] = {
                name: _child(child, definitions, inside) for name, child in value.items()
            }
        elif key == "prefixItems" and isinstance(value, list):
            result[key] = [_child(child, definitions, inside) for child in value]
        else:
            result[key] = value
    for base in _bases(node, definitions, inside):
        result = {**base, **result}
    return _typed_set(_closed(result))


def _child(value: JsonValue, definitions: JsonObject, inside: tuple[str, ...]) -> JsonValue:
    return _rewritten(value, definitions, inside) if isinstance(value, dict) else value


def _bases(node: JsonObject, definitions: JsonObject, inside: tuple[str, ...]) -> list[JsonObject]:
    """What a node says by reference or by combination, in place."""
    bases: list[JsonObject] = []
    reference = node.get("$ref")
    if isinstance(reference, str):
        bases.append(_referenced(reference, definitions, inside))
    every = node.get("allOf")
    if isinstance(every, list):
        bases.extend(_rewritten(cast("JsonObject", part), definitions, inside) for part in every)
    for keyword in ("anyOf", "oneOf"):
        alternatives = node.get(keyword)
        if isinstance(alternatives, list):
            members = [
                _rewritten(cast("JsonObject", one), definitions, inside) for one in alternatives
            ]
            bases.append(any_of(members))
    return bases


def _referenced(reference: str, definitions: JsonObject, inside: tuple[str, ...]) -> JsonObject:
    name = reference.removeprefix(_REFERENCE)
    target = definitions.get(name)
    if not isinstance(target, dict):
        raise UnusableModel(f"the model's schema refers to {reference!r}, which it does not hold")
    if name in inside:
        raise UnusableModel(f"the model {name} contains itself; a tool's schema must be finite")
    return _rewritten(target, definitions, (*inside, name))


def _closed(schema: JsonObject) -> JsonObject:
    if "properties" in schema:
        schema["additionalProperties"] = False
    return schema


def _typed_set(schema: JsonObject) -> JsonObject:
    if "const" in schema:
        schema["enum"] = [schema.pop("const")]
    values = schema.get("enum")
    if isinstance(values, list) and "type" not in schema and all(map(is_scalar, values)):
        schema["type"] = closed_set(values)["type"]
    return schema
