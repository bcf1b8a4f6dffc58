"""Shapes written as JSON Schema 2020-12: no references, no titles, named fields closed."""

from collections.abc import Iterable

import msgspec

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.sources.merging import any_of, closed_set, qualified
from holdfast.sources.shapes import (
    Alternatives,
    Anything,
    Array,
    Choices,
    CompoundShape,
    Field,
    FixedTuple,
    LeafShape,
    Map,
    Model,
    Qualified,
    Record,
    Scalar,
    Shape,
    Written,
)


def schema_of(shape: Shape) -> JsonObject:
    """Write one shape."""
    match shape:
        case Anything() | Scalar() | Written() | Choices() | Model():
            return _leaf(shape)
        case _:
            return _compound(shape)


def arguments_schema(fields: Iterable[Field]) -> JsonObject:
    """Write the arguments of a function: always an object, always closed."""
    return _object(fields, None)


def _leaf(shape: LeafShape) -> JsonObject:
    match shape:
        case Anything():
            return {}
        case Scalar(kind=kind):
            return {"type": kind}
        case Written(schema=schema) | Model(schema=schema):
            return dict(schema)
        case Choices(values=values):
            return closed_set([*values])


def _compound(shape: CompoundShape) -> JsonObject:
    match shape:
        case Array(item=item):
            # Also for a set: an item sent twice is simply in it once.
            return {"type": "array", "items": schema_of(item)}
        case FixedTuple(items=items):
            return _places([schema_of(item) for item in items], len(items))
        case Map(value=Anything()):
            return {"type": "object"}
        case Map(value=value):
            return {"type": "object", "additionalProperties": schema_of(value)}
        case Record():
            return _record(shape)
        case Alternatives(members=members):
            return any_of([schema_of(member) for member in members])
        case Qualified(shape=inner, facts=facts):
            return qualified(schema_of(inner), facts)


def _places(items: list[JsonObject], least: int) -> JsonObject:
    """An array with one schema per place. Providers want `items` in every array."""
    size: JsonObject = {"minItems": least, "maxItems": len(items)}
    if not items:
        return {"type": "array", "items": {}, **size}
    if all(item == items[0] for item in items):
        return {"type": "array", "items": items[0], **size}
    return {"type": "array", "prefixItems": [*items], "items": {}, **size}


def _record(record: Record) -> JsonObject:
    if record.as_array:
        return _record_as_array(record)
    schema = _object(record.fields, record.tag)
    if record.description is not None:
        schema["description"] = record.description
    return schema


def _record_as_array(record: Record) -> JsonObject:
    places = [schema_of(field.shape) for field in record.fields]
    names = [field.name for field in record.fields]
    least = sum(field.required for field in record.fields)
    if record.tag is not None:
        places.insert(0, closed_set([record.tag[1]]))
        names.insert(0, record.tag[0])
        least += 1
    schema = _places(places, least)
    listed = f"[{', '.join(names)}]"
    schema["description"] = f"{record.description} {listed}" if record.description else listed
    return schema


def _object(fields: Iterable[Field], tag: tuple[str, str | int] | None) -> JsonObject:
    properties: JsonObject = {}
    required: list[JsonValue] = []
    if tag is not None:
        properties[tag[0]] = closed_set([tag[1]])
        required.append(tag[0])
    for field in fields:
        properties[field.wire] = _property(field)
        if field.required:
            required.append(field.wire)
    schema: JsonObject = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return {**schema, "additionalProperties": False}


def _property(field: Field) -> JsonObject:
    schema = schema_of(field.shape)
    said_by_annotation = isinstance(field.shape, Qualified) and field.shape.facts.description
    if field.description is not None and not said_by_annotation:
        schema["description"] = field.description
    if field.default is not msgspec.UNSET:
        schema["default"] = field.default
    return schema
