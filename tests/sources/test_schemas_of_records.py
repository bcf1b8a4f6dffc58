"""Classes with named fields in a schema: closed, inlined, with their defaults."""

import dataclasses
from collections.abc import Mapping
from typing import (
    Annotated,
    Generic,
    NamedTuple,
    NotRequired,
    Required,
    TypedDict,
    TypeVar,
)

import msgspec
import pydantic
import pytest

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.tool import ToolDefinitionError
from holdfast.sources.functions import tool

T = TypeVar("T")
U = TypeVar("U")


@dataclasses.dataclass
class Line:
    """One line of an order.

    Attributes:
        item: what is ordered, e.g. "nail"
    """

    item: str
    count: int = 1
    tags: list[str] = dataclasses.field(default_factory=list[str])
    note: Annotated[str | None, "a remark"] = None


@dataclasses.dataclass
class Order:
    lines: list[Line]
    extra: dict[str, Line]


class Place(TypedDict):
    name: str
    zip: NotRequired[str]


class Options(TypedDict, total=False):
    depth: Required[int]
    quoted: "Required[str]"
    loose: int


class Point(NamedTuple):
    x: float
    y: float = 0.0


class Cat(msgspec.Struct, tag=True, rename="camel"):
    lives_left: int = 9


class Dog(msgspec.Struct, tag=True, kw_only=True):
    name: str
    age: int = 1
    friends: list[str] = []
    left_out: int | msgspec.UnsetType = msgspec.UNSET


class Row(msgspec.Struct, array_like=True):
    name: str
    age: int = 0


class Box(msgspec.Struct, Generic[T]):
    content: T


class IntBox(Box[int]):
    pass


@dataclasses.dataclass
class Pair(Generic[T, U]):
    left: T
    right: list[U]


class Swapped(Pair[U, T], Generic[T, U]):
    pass


@dataclasses.dataclass
class Tree:
    children: "list[Tree]"


class Growing(msgspec.Struct, Generic[T]):
    inner: "Growing[list[T]] | None" = None


@dataclasses.dataclass
class Unfinished:
    part: "Missing"  # noqa: F821  # pyright: ignore[reportUndefinedVariable] - it is to be missing


@dataclasses.dataclass
class Secret:
    shown: int
    hidden: int = dataclasses.field(default=3, init=False)


@dataclasses.dataclass
class WithInitVar:
    shown: int
    seed: dataclasses.InitVar[int]


class Country(pydantic.BaseModel):
    code: str


class Address(pydantic.BaseModel):
    lines: list[Line] = []
    country: Country | None = None


class UnannotatedPair(tuple[int, int]):
    """What `collections.namedtuple` makes."""

    __slots__ = ()

    _fields = ("left", "right")
    _field_defaults: Mapping[str, object] = {}


def property_for(annotation: object) -> JsonObject:
    def function(x: object) -> None:
        """Do something."""

    function.__annotations__["x"] = annotation
    properties = tool(function).tool.input_schema["properties"]
    assert isinstance(properties, dict)
    found = properties["x"]
    assert isinstance(found, dict)
    return found


def objects_in(schema: JsonValue) -> list[JsonObject]:
    found: list[JsonObject] = []
    if isinstance(schema, dict):
        if "properties" in schema:
            found.append(schema)
        schema = list(schema.values())
    if isinstance(schema, list):
        for child in schema:
            found += objects_in(child)
    return found


LINE: JsonObject = {
    "type": "object",
    "description": "One line of an order.",
    "properties": {
        "item": {"type": "string", "description": 'what is ordered, e.g. "nail"'},
        "count": {"type": "integer", "default": 1},
        "tags": {"type": "array", "items": {"type": "string"}, "default": []},
        "note": {"type": ["string", "null"], "description": "a remark", "default": None},
    },
    "required": ["item"],
    "additionalProperties": False,
}


def test_a_dataclass_is_a_closed_object_with_its_defaults() -> None:
    assert property_for(Line) == LINE


def test_an_optional_record_is_a_list_of_types() -> None:
    assert property_for(Line | None) == {**LINE, "type": ["object", "null"]}


@pytest.mark.req("OSA-SCH-01", "OSA-RES-04")
def test_every_object_with_named_fields_is_closed_at_every_depth() -> None:
    @tool
    def ship(order: Order, to: Place | Point, who: Address, pets: list[Cat | Dog]) -> None:
        """Ship it."""

    schema = ship.tool.input_schema
    objects = objects_in(schema)
    assert len(objects) == 10
    assert all(found["additionalProperties"] is False for found in objects)
    assert schema["additionalProperties"] is False


@pytest.mark.req("OSA-SCH-01")
def test_a_function_without_parameters_has_a_closed_empty_object() -> None:
    @tool
    def ping() -> None:
        """Answer."""

    assert ping.tool.input_schema == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_references_are_inlined_and_titles_gone() -> None:
    text = str([property_for(Order), property_for(Address)])
    assert "$ref" not in text
    assert "$defs" not in text
    assert "title" not in text


@pytest.mark.parametrize(
    ("typed_dict", "required", "properties"),
    [
        (Place, ["name"], {"name": {"type": "string"}, "zip": {"type": "string"}}),
        (
            Options,
            ["depth", "quoted"],
            {
                "depth": {"type": "integer"},
                "quoted": {"type": "string"},
                "loose": {"type": "integer"},
            },
        ),
    ],
)
def test_a_typed_dict_knows_which_keys_are_required(
    typed_dict: object, required: list[str], properties: JsonObject
) -> None:
    found = property_for(typed_dict)
    assert found["required"] == required
    assert found["properties"] == properties


def test_a_named_tuple_is_an_array_as_it_is_written() -> None:
    assert property_for(Point) == {
        "type": "array",
        "items": {"type": "number"},
        "minItems": 1,
        "maxItems": 2,
        "description": "[x, y]",
    }


def test_a_struct_written_as_an_array_is_one() -> None:
    found = property_for(Row)
    assert found["prefixItems"] == [{"type": "string"}, {"type": "integer"}]
    assert (found["minItems"], found["maxItems"]) == (1, 2)


def test_structs_in_a_union_have_their_tags_and_renamed_fields() -> None:
    cat: JsonObject = {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["Cat"]},
            "livesLeft": {"type": "integer", "default": 9},
        },
        "required": ["type"],
        "additionalProperties": False,
    }
    dog: JsonObject = {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["Dog"]},
            "name": {"type": "string"},
            "age": {"type": "integer", "default": 1},
            "friends": {"type": "array", "items": {"type": "string"}, "default": []},
            "left_out": {"type": "integer"},
        },
        "required": ["type", "name"],
        "additionalProperties": False,
    }
    assert property_for(Cat | Dog) == {"anyOf": [cat, dog]}


@pytest.mark.parametrize(
    ("generic", "name", "expected"),
    [
        (Box[int], "content", {"type": "integer"}),
        (Box[list[str]], "content", {"type": "array", "items": {"type": "string"}}),
        (IntBox, "content", {"type": "integer"}),
        (Pair[int, str], "left", {"type": "integer"}),
        (Pair[int, str], "right", {"type": "array", "items": {"type": "string"}}),
    ],
)
def test_a_generic_record_has_its_arguments_filled_in(
    generic: object, name: str, expected: JsonObject
) -> None:
    properties = property_for(generic)["properties"]
    assert isinstance(properties, dict)
    assert properties[name] == expected


def test_nested_uses_of_one_generic_record_are_not_recursion() -> None:
    assert len(objects_in(property_for(Box[Box[int]]))) == 2


@pytest.mark.parametrize(
    ("annotation", "hint"),
    [
        (Tree, r"x\.children\[\].*contains itself"),
        (Box, "type variable"),
        (Growing[int], "contains itself"),
        (Unfinished, "Missing"),
        (UnannotatedPair, "field 'left' of UnannotatedPair has no annotation"),
        (Swapped[int, str], "two different types"),
        (WithInitVar, "InitVar"),
    ],
)
def test_a_class_without_a_finite_schema_is_refused_by_name(annotation: object, hint: str) -> None:
    with pytest.raises(ToolDefinitionError, match=rf"(?s)'function', parameter 'x'.*{hint}"):
        property_for(annotation)


def test_a_field_the_constructor_does_not_take_is_not_asked_for() -> None:
    assert property_for(Secret)["properties"] == {"shown": {"type": "integer"}}


def test_a_result_schema_has_fields_a_caller_cannot_set() -> None:
    @tool
    def look() -> Secret:
        """Look."""
        return Secret(1)

    assert look.tool.output_schema == {
        "type": "object",
        "properties": {"shown": {"type": "integer"}, "hidden": {"type": "integer"}},
        "required": ["shown"],
        "additionalProperties": False,
    }
