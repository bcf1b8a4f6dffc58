"""Whatever msgspec writes for a value, the schema accepts, and decoding gives the value back."""

import dataclasses
import datetime
import enum
from decimal import Decimal
from typing import Any, Literal, NamedTuple, TypedDict
from uuid import UUID

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.contract.tool import ArgumentFault, Decode, Read, Tool
from holdfast.sources.functions import tool


class Unit(enum.Enum):
    CELSIUS = "c"
    FAHRENHEIT = "f"


@dataclasses.dataclass
class Point:
    x: float
    label: str | None = None


@dataclasses.dataclass
class Circle:
    center: Point
    radius: int


class Stop(TypedDict):
    at: datetime.date
    unit: Unit


class Span(NamedTuple):
    start: int
    words: tuple[str, ...] = ()


class Cat(msgspec.Struct, tag=True, rename="camel"):
    lives_left: int = 9


class Dog(msgspec.Struct, tag=True):
    friends: list[Cat]


class Row(msgspec.Struct, array_like=True):
    key: UUID
    price: Decimal


integers = st.integers(-(2**53), 2**53)
floats = st.floats(allow_nan=False, allow_infinity=False)
dates = st.dates()
moments = st.datetimes(timezones=st.just(datetime.UTC))
decimals = st.decimals(allow_nan=False, allow_infinity=False)
units = st.sampled_from(Unit)
points = st.builds(Point, floats, st.none() | st.text())
cats = st.builds(Cat, integers)

CASES: dict[str, tuple[object, st.SearchStrategy[Any]]] = {
    "optional integer": (int | None, st.none() | integers),
    "float": (float, floats),
    "list of floats": (list[float], st.lists(floats)),
    "literal": (Literal["a", 1, None], st.sampled_from(["a", 1, None])),
    "enum": (Unit, units),
    "set": (set[str], st.sets(st.text())),
    "tuple": (tuple[int, str, bool], st.tuples(integers, st.text(), st.booleans())),
    "mapping of dates": (dict[str, datetime.date], st.dictionaries(st.text(), dates)),
    "moment": (datetime.datetime, moments),
    "duration": (datetime.timedelta, st.timedeltas(datetime.timedelta(), datetime.timedelta(9))),
    "bytes": (bytes, st.binary()),
    "decimal": (Decimal, decimals),
    "uuid": (UUID, st.uuids()),
    "dataclass": (Point, points),
    "several objects": (Point | Circle, points | st.builds(Circle, points, integers)),
    "typed dict": (Stop, st.fixed_dictionaries({"at": dates, "unit": units})),
    "named tuple": (Span, st.builds(Span, integers, st.lists(st.text()).map(tuple))),
    "tagged union": (Cat | Dog, cats | st.builds(Dog, st.lists(cats))),
    "array-like struct": (Row, st.builds(Row, st.uuids(), decimals)),
    "nested": (
        dict[str, list[Point | Circle] | None],
        st.dictionaries(st.text(), st.none() | st.lists(points)),
    ),
}


def a_tool(annotation: object) -> Tool:
    def function(x: object) -> None:
        """Do something."""

    function.__annotations__["x"] = annotation
    return tool(function).tool


TOOLS = {name: a_tool(annotation) for name, (annotation, _) in CASES.items()}


@pytest.mark.parametrize("name", CASES)
@given(st.data())
def test_what_is_written_for_a_value_is_accepted_and_read_back(
    name: str, data: st.DataObject
) -> None:
    made = TOOLS[name]
    value = data.draw(CASES[name][1])
    text = msgspec.json.encode({"x": value})
    arguments = msgspec.json.decode(text)
    jsonschema_rs.validate(made.input_schema, arguments)
    if made.body.read is not None:
        assert made.body.read(text) == {"x": value}
    read = arguments if made.body.decode is None else made.body.decode(arguments)
    assert not isinstance(read, ArgumentFault), read
    assert read["x"] == value
    assert type(read["x"]) is type(value)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | floats | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("xabc") | st.text(), inner),
    max_leaves=8,
)
decodes = st.sampled_from([made.body.decode for made in TOOLS.values() if made.body.decode])


@settings(max_examples=300)
@given(decodes, anything)
def test_no_json_makes_decoding_raise(decode: Decode, value: Any) -> None:
    found = decode({"x": value})
    assert isinstance(found, ArgumentFault) or found.keys() == {"x"}


both = st.sampled_from(
    [(body.decode, body.read) for body in (made.body for made in TOOLS.values()) if body.read]
)


@settings(max_examples=300)
@given(both, anything)
def test_reading_text_gives_what_decoding_its_values_gives(
    ways: tuple[Decode, Read], value: Any
) -> None:
    decode, read = ways
    decoded, from_text = decode({"x": value}), read(msgspec.json.encode({"x": value}))
    assert isinstance(decoded, ArgumentFault) is isinstance(from_text, ArgumentFault)
    assert isinstance(decoded, ArgumentFault) or decoded == from_text


def test_most_records_are_read_from_their_text() -> None:
    without = {name for name, made in TOOLS.items() if made.body.decode and not made.body.read}
    assert without == {"float", "decimal", "array-like struct"}


@pytest.mark.parametrize("name", CASES)
def test_a_derived_schema_is_valid_json_schema(name: str) -> None:
    assert jsonschema_rs.meta.is_valid(TOOLS[name].input_schema)
