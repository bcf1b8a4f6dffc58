"""What the schema of one parameter looks like, for each kind of annotation."""

import datetime
import enum
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, Literal, NewType, TypeAlias, TypeVar

import annotated_types
import msgspec
import pydantic
import pytest
from typing_extensions import TypeAliasType

from holdfast.contract.json_value import JsonObject
from holdfast.contract.tool import ToolDefinitionError
from holdfast.sources.functions import tool

Celsius = NewType("Celsius", float)
Number = TypeAliasType("Number", int | list[int])
Nothing = TypeAliasType("Nothing", None)
Endless: TypeAlias = "int | list[Endless]"
Whatever = Annotated[Any, "whatever"]
Positive = Annotated[int, msgspec.Meta(ge=1)]
T = TypeVar("T")


NUMBER_OR_TEXT: JsonObject = {
    "anyOf": [
        {"type": "integer"},
        {"type": "array", "items": {"type": "integer"}},
        {"type": "string"},
        {"type": "null"},
    ]
}


class SelfNaming:
    """An alias as newer Pythons make them with the `type` statement."""

    def __init__(self) -> None:
        self.__value__ = GenericAlias(list, (self,))


A_LOOP = SelfNaming()


class Unit(enum.Enum):
    CELSIUS = "c"
    FAHRENHEIT = "f"


class Priority(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mixed(enum.Enum):
    TEXT = "text"
    HALF = 0.5


class NotJson(enum.Enum):
    ONE = (1, 2)


class Empty(enum.Enum):
    pass


def schema_with(annotation: object, **options: Any) -> JsonObject:
    def function(x: object) -> None:
        """Do something."""

    function.__annotations__["x"] = annotation
    return tool(function, **options).tool.input_schema


def property_for(annotation: object) -> object:
    properties = schema_with(annotation)["properties"]
    assert isinstance(properties, dict)
    return properties["x"]


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (object, {}),
        (Celsius, {"type": "number"}),
        (datetime.datetime, {"type": "string", "format": "date-time"}),
        (datetime.date, {"type": "string", "format": "date"}),
        (datetime.time, {"type": "string", "format": "time"}),
        (datetime.timedelta, {"type": "string", "format": "duration"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (bytes, {"type": "string", "contentEncoding": "base64"}),
        (Path, {"type": "string", "format": "path"}),
    ],
)
def test_a_plain_type_has_its_json_type(annotation: object, expected: JsonObject) -> None:
    assert property_for(annotation) == expected


def test_a_decimal_may_be_written_as_a_number_or_as_text() -> None:
    found = property_for(Decimal)
    assert isinstance(found, dict)
    assert found["type"] == ["number", "string"]


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (list, {"type": "array", "items": {}}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (Iterable[str], {"type": "array", "items": {"type": "string"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (tuple, {"type": "array", "items": {}}),
        (set[str], {"type": "array", "items": {"type": "string"}}),
        (frozenset[int], {"type": "array", "items": {"type": "integer"}}),
        (
            tuple[int, int],
            {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
        ),
        (
            tuple[int, str],
            {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "items": {},
                "minItems": 2,
                "maxItems": 2,
            },
        ),
        (tuple[()], {"type": "array", "items": {}, "minItems": 0, "maxItems": 0}),
        (dict, {"type": "object"}),
        (dict[str, Any], {"type": "object"}),
        (
            Mapping[str, list[int]],
            {
                "type": "object",
                "additionalProperties": {"type": "array", "items": {"type": "integer"}},
            },
        ),
    ],
)
def test_a_container_describes_what_it_holds(annotation: object, expected: JsonObject) -> None:
    assert property_for(annotation) == expected


@pytest.mark.req("OSA-SCH-14")
@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal["a", 1, True], {"type": ["string", "integer", "boolean"], "enum": ["a", 1, True]}),
        (Literal[1, True], {"type": ["integer", "boolean"], "enum": [1, True]}),
        (Unit, {"type": "string", "enum": ["c", "f"]}),
        (Priority, {"type": "integer", "enum": [1, 2]}),
        (Mixed, {"type": ["string", "number"], "enum": ["text", 0.5]}),
        (Literal[Unit.CELSIUS], {"type": "string", "enum": ["c"]}),
    ],
)
def test_a_closed_set_is_an_enum_that_declares_its_type(
    annotation: object, expected: JsonObject
) -> None:
    found = property_for(annotation)
    assert found == expected
    assert repr(found) == repr(expected), "1 and true must not be taken for each other"


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (int | None, {"type": ["integer", "null"]}),
        (list[int] | None, {"type": ["array", "null"], "items": {"type": "integer"}}),
        (dict[str, Any] | None, {"type": ["object", "null"]}),
        (Literal["a"] | None, {"type": ["string", "null"], "enum": ["a", None]}),
        (Literal["a", None], {"type": ["string", "null"], "enum": ["a", None]}),
        (Unit | None, {"type": ["string", "null"], "enum": ["c", "f", None]}),
        (datetime.date | None, {"type": ["string", "null"], "format": "date"}),
        (Positive | None, {"type": ["integer", "null"], "minimum": 1}),
        (Annotated[int | None, msgspec.Meta(ge=1)], {"type": ["integer", "null"], "minimum": 1}),
    ],
)
def test_an_optional_value_is_a_list_of_types_and_never_any_of(
    annotation: object, expected: JsonObject
) -> None:
    assert property_for(annotation) == expected


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (int | str, {"type": ["integer", "string"]}),
        (int | str | None, {"type": ["integer", "string", "null"]}),
        (int | float, {"type": "number"}),
        (Literal["a"] | Literal["b", "a"], {"type": "string", "enum": ["a", "b"]}),
        (Any | None, {}),
        (Nothing | None, {"type": "null"}),
        (Whatever | None, {"anyOf": [{"description": "whatever"}, {"type": "null"}]}),
        (Number | None | str, NUMBER_OR_TEXT),
        (
            int | list[int],
            {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
        ),
        (
            Path | int | None,
            {
                "anyOf": [
                    {"type": "string", "format": "path"},
                    {"type": "integer"},
                    {"type": "null"},
                ]
            },
        ),
    ],
)
def test_a_union_is_a_list_of_types_or_any_of_within_the_property(
    annotation: object, expected: JsonObject
) -> None:
    schema = schema_with(annotation)
    assert "anyOf" not in schema
    assert property_for(annotation) == expected


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (Annotated[int, msgspec.Meta(gt=0, le=9)], {"exclusiveMinimum": 0, "maximum": 9}),
        (Annotated[float, msgspec.Meta(ge=0, lt=1)], {"minimum": 0, "exclusiveMaximum": 1}),
        (Annotated[int, msgspec.Meta(multiple_of=5)], {"multipleOf": 5}),
        (
            Annotated[str, msgspec.Meta(min_length=1, max_length=5, pattern="^a")],
            {"minLength": 1, "maxLength": 5, "pattern": "^a"},
        ),
        (Annotated[list[int], msgspec.Meta(min_length=1, max_length=5)], {"minItems": 1}),
        (Annotated[dict[str, int], msgspec.Meta(max_length=5)], {"maxProperties": 5}),
        (
            Annotated[int, msgspec.Meta(title="T", description="d", examples=[3])],
            {"description": "d", "examples": [3]},
        ),
        (Annotated[int, msgspec.Meta(extra_json_schema={"x-unit": "m"})], {"x-unit": "m"}),
        (Annotated[int, annotated_types.Interval(ge=1, lt=4)], {"exclusiveMaximum": 4}),
        (Annotated[int, annotated_types.Gt(3)], {"exclusiveMinimum": 3}),
        (Annotated[Decimal, annotated_types.Ge(Decimal("0.5"))], {"minimum": 0.5}),
        (Annotated[str, annotated_types.Len(1, 9)], {"minLength": 1, "maxLength": 9}),
        (Annotated[str, pydantic.StringConstraints(pattern="^x")], {"pattern": "^x"}),
        (Annotated[str, pydantic.StringConstraints(pattern=re.compile("^x"))], {"pattern": "^x"}),
        (Annotated[int, "how many"], {"description": "how many"}),
        (Annotated[int, ["unhashable"], int, "how many"], {"description": "how many"}),
        (
            Annotated[int, pydantic.Field(gt=2, description="how many", title="N")],
            {"exclusiveMinimum": 2, "description": "how many"},
        ),
        (
            Annotated[str, pydantic.Field(max_length=3, json_schema_extra={"examples": ["a"]})],
            {"maxLength": 3, "examples": ["a"]},
        ),
    ],
)
def test_what_stands_beside_the_type_becomes_a_keyword(
    annotation: object, expected: JsonObject
) -> None:
    found = property_for(annotation)
    assert isinstance(found, dict)
    assert expected.items() <= found.items()
    assert "title" not in found


@pytest.mark.parametrize(
    ("annotation", "hint"),
    [
        (complex, "has no JSON form"),
        (type[int], "has no JSON form"),
        (Path.cwd, "has no JSON form"),
        (dict[int, str], "text keys"),
        (T, "type variable"),
        (A_LOOP, "contains itself"),
        ("Endless", "use `Any`"),
        (NotJson, "no JSON scalar"),
        (Empty, "no members"),
        (Literal[b"x"], "no JSON scalar"),
        ([int], "not a type"),
        (list[complex], r"x\[\]"),
        (Annotated[datetime.date, annotated_types.Gt(datetime.date(2020, 1, 1))], "not a number"),
    ],
)
def test_an_annotation_json_cannot_hold_is_refused_by_name(annotation: object, hint: str) -> None:
    with pytest.raises(ToolDefinitionError, match=rf"function 'function', parameter 'x'.*{hint}"):
        property_for(annotation)
