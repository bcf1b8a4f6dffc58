"""What an annotation means for JSON, read once: schema and decoding are both derived from it.

Values only. It knows neither how annotations are read nor what is made of a shape.
"""

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import msgspec

from holdfast.contract.json_value import JsonObject, JsonValue

ScalarKind = Literal["string", "integer", "number", "boolean", "null"]
Container = (
    type[list[object]] | type[tuple[object, ...]] | type[set[object]] | type[frozenset[object]]
)


class Anything(msgspec.Struct, frozen=True):
    """Any JSON value."""


class Scalar(msgspec.Struct, frozen=True):
    """A value JSON has a type of its own for."""

    kind: ScalarKind


class Written(msgspec.Struct, frozen=True):
    """A value that JSON carries as text, such as a date."""

    python: type
    schema: JsonObject


class Choices(msgspec.Struct, frozen=True):
    """A closed set: what is written, and what the body gets for it."""

    values: tuple[JsonValue, ...]
    members: tuple[object, ...]
    annotation: object
    plain: bool
    """The body gets exactly what is written."""


class Model(msgspec.Struct, frozen=True):
    """A pydantic model: it describes and validates itself."""

    python: type
    schema: JsonObject


class Array(msgspec.Struct, frozen=True):
    """Any number of items of one shape."""

    container: Container
    item: "Shape"


class FixedTuple(msgspec.Struct, frozen=True):
    """One item per place."""

    items: tuple["Shape", ...]


class Map(msgspec.Struct, frozen=True):
    """Any keys, one shape of value."""

    value: "Shape"


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One named part of a record, or one parameter of a function."""

    name: str
    wire: str
    """How JSON spells the name."""
    shape: "Shape"
    required: bool
    default: "JsonValue | msgspec.UnsetType" = msgspec.UNSET
    description: str | None = None


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A class with named fields, written as an object, or as an array of its fields' values."""

    annotation: object
    build: Callable[..., object]
    fields: tuple[Field, ...]
    native: bool
    """Whether msgspec builds it the way its own constructor would."""
    as_array: bool = False
    is_dict: bool = False
    tag: tuple[str, str | int] | None = None
    """The field and value that tell it from the other members of a union."""
    description: str | None = None


class Alternatives(msgspec.Struct, frozen=True):
    """One of several shapes, the first that fits."""

    members: tuple["Shape", ...]


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What an annotation says beside the type."""

    bounds: dict[str, int | float] = {}
    """By JSON Schema keyword."""
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    description: str | None = None
    extra: JsonObject = {}
    aware: bool | None = None
    """Whether a time must, or must not, have a zone. JSON Schema cannot say it."""


class Qualified(msgspec.Struct, frozen=True):
    """A shape with more said about it."""

    shape: "Shape"
    facts: Facts


LeafShape: TypeAlias = Anything | Scalar | Written | Choices | Model
CompoundShape: TypeAlias = Array | FixedTuple | Map | Record | Alternatives | Qualified
Shape: TypeAlias = LeafShape | CompoundShape


def parts_of(shape: Shape) -> Iterator[Shape]:
    """The shape and every shape in it."""
    yield shape
    match shape:
        case Array(item=inner) | Map(value=inner) | Qualified(shape=inner):
            below: tuple[Shape, ...] = (inner,)
        case FixedTuple(items=items):
            below = items
        case Alternatives(members=members):
            below = members
        case Record(fields=fields):
            below = tuple(field.shape for field in fields)
        case _:
            below = ()
    for one in below:
        yield from parts_of(one)
