"""A JSON Schema as pydantic types, as exactly as pydantic can say it.

Objects become models (closed where the schema is closed, open elsewhere), enums become `Literal`
(`IntEnum` for integers), constraints become `Field`. A property that may be left out gets a default
that its type does not admit, so null is accepted only where the schema names it. Unknown types
become `Any`.
"""

from enum import IntEnum
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

SCALARS = {"integer": int, "number": float, "boolean": bool, "string": str, "null": None}
CONSTRAINTS = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
    "pattern": "pattern",
}


def type_of(schema: dict) -> Any:  # noqa: ANN401 - any annotation
    """The annotation for a value of this schema."""
    facts = {ours: schema[theirs] for theirs, ours in CONSTRAINTS.items() if theirs in schema}
    bare = _bare_type(schema)
    return Annotated[bare, Field(**facts)] if facts else bare


def _bare_type(schema: dict) -> Any:  # noqa: ANN401 - any annotation
    if "enum" in schema and schema.get("type") == "integer":
        # Lax mode reads text for an IntEnum, and does not for a Literal.
        return IntEnum("Choice", {f"choice_{value}": value for value in schema["enum"]})
    if "enum" in schema:
        return Literal[*schema["enum"]]
    alternatives = schema.get("anyOf") or schema.get("oneOf")
    if alternatives:
        return reduce(or_, [type_of(one) for one in alternatives])
    kind = schema.get("type")
    if isinstance(kind, list):
        return reduce(or_, [type_of({**schema, "type": one}) for one in kind])
    if kind == "array":
        return list[type_of(schema["items"])] if "items" in schema else list[Any]
    if kind == "object":
        return model_of(schema) if "properties" in schema else dict[str, Any]
    return SCALARS.get(kind, Any)


def model_of(schema: dict) -> type[BaseModel]:
    """The model of an object schema."""
    required = schema.get("required", [])
    fields = {
        # An alias: a property may have a name that a model's own attributes have taken.
        f"field_{number}": (
            type_of(child),
            Field(alias=name) if name in required else Field(None, alias=name),
        )
        for number, (name, child) in enumerate(schema.get("properties", {}).items())
    }
    extra = "forbid" if schema.get("additionalProperties") is False else "allow"
    return create_model("Arguments", __config__=ConfigDict(extra=extra), **fields)


def dumped(value: object) -> object:
    """What was validated, as the plain values a tool sees; what was not sent stays away."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, list):
        return [dumped(item) for item in value]
    return value.value if isinstance(value, IntEnum) else value
