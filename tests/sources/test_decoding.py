"""From checked JSON arguments to what a body takes."""

import dataclasses
import datetime
import enum
import uuid
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import msgspec
import pydantic
import pydantic.dataclasses
import pytest
from annotated_types import Ge, Gt

from holdfast.contract.json_value import JsonObject
from holdfast.contract.tool import ArgumentFault, Decode
from holdfast.sources.functions import tool


class Unit(enum.Enum):
    CELSIUS = "c"


class Odd(enum.Enum):
    HALF = 0.5
    NOTHING = None


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


@dataclasses.dataclass
class Named:
    x: float
    name: str


@dataclasses.dataclass
class Picky:
    size: int

    def __post_init__(self) -> None:
        if self.size == 13:
            raise KeyError("thirteen")
        if self.size < 0:
            raise ValueError("size must not be negative")


@dataclasses.dataclass
class Derived:
    size: int
    double: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.double = 2 * self.size


@pydantic.dataclasses.dataclass
class Strict:
    size: int

    @pydantic.field_validator("size")
    @classmethod
    def _even(cls, size: int) -> int:
        if size % 2:
            raise ValueError("odd")
        return size


class Stop(TypedDict):
    at: datetime.date


class PlainStop(TypedDict):
    name: str


class Place(NamedTuple):
    where: Point | Named
    note: str = ""


class Cat(msgspec.Struct, tag=True):
    lives: int = 9


class Dog(msgspec.Struct, tag=True):
    name: str


class Kennel(msgspec.Struct, rename="camel", tag="kennel"):
    best_dog: Point | Named


class Pair(msgspec.Struct, array_like=True, tag="pair"):
    left: Point | Named
    right: int = 0


class Order(pydantic.BaseModel):
    count: int = pydantic.Field(gt=0)
    when: datetime.date | None = None


class Return(pydantic.BaseModel):
    count: int
    reason: str = "none"


class Numbers(pydantic.RootModel[list[int]]):
    pass


class Unspeakable(ValueError):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@dataclasses.dataclass
class Mute:
    size: int

    def __post_init__(self) -> None:
        raise Unspeakable


def decode_for(annotation: object) -> Decode | None:
    def function(x: object) -> None:
        """Do something."""

    function.__annotations__["x"] = annotation
    return tool(function).tool.body.decode


def decoded(annotation: object, value: object) -> object:
    decode = decode_for(annotation)
    assert decode is not None
    arguments: Any = {"x": value}
    values = decode(arguments)
    assert not isinstance(values, ArgumentFault), values
    assert arguments == {"x": value}, "the JSON arguments stay as they are"
    return values["x"]


def fault(annotation: object, value: object) -> ArgumentFault:
    decode = decode_for(annotation)
    assert decode is not None
    arguments: Any = {"x": value}
    values = decode(arguments)
    assert isinstance(values, ArgumentFault), values
    return values


@pytest.mark.parametrize(
    "annotation",
    [
        str,
        int,
        bool,
        Any,
        list[int],
        list[list[str]],
        Iterable[int],
        dict[str, Any],
        Literal["a", 1],
        int | str | None,
        int | float,
        PlainStop,
        list[PlainStop] | None,
        Annotated[int, msgspec.Meta(ge=1)],
    ],
)
def test_what_needs_no_conversion_has_no_decode_step(annotation: object) -> None:
    assert decode_for(annotation) is None


KEY = "6f2c8e3e-5d0b-4d2a-9a55-0f3c3f6f6f10"


@pytest.mark.parametrize(
    ("annotation", "sent", "expected"),
    [
        (float, 2, 2.0),
        (float, 2.5, 2.5),
        (float | None, 2, 2.0),
        (list[float], [1, 2.5], [1.0, 2.5]),
        (tuple[int, ...], [1, 2], (1, 2)),
        (tuple[int, str], [1, "a"], (1, "a")),
        (set[str], ["a"], {"a"}),
        (frozenset[int], [1], frozenset({1})),
        (Iterable[float], [1], [1.0]),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (datetime.date, "2024-02-29", datetime.date(2024, 2, 29)),
        (datetime.timedelta, "PT1M", datetime.timedelta(minutes=1)),
        (uuid.UUID, KEY, uuid.UUID(KEY)),
        (Decimal, "1.50", Decimal("1.50")),
        (Decimal, 1.5, Decimal("1.5")),
        (bytes, "aGk=", b"hi"),
        (Path, "a/b", Path("a/b")),
        (PurePosixPath | None, None, None),
        (list[Path], ["a"], [Path("a")]),
        (Path | int, "a", Path("a")),
        (Path | int, 3, 3),
        (Unit, "c", Unit.CELSIUS),
        (list[Unit | None], ["c", None], [Unit.CELSIUS, None]),
        (Odd, 0.5, Odd.HALF),
        (Odd, None, Odd.NOTHING),
        (Literal[Unit.CELSIUS, "x"], "c", Unit.CELSIUS),
        (datetime.date | str, "2024-02-29", datetime.date(2024, 2, 29)),
        (datetime.date | str, "today", "today"),
        (Point, {"x": 1}, Point(1.0)),
        (Point | None, None, None),
        (dict[str, Annotated[Point, "here"]], {"a": {"x": 1}}, {"a": Point(1.0)}),
        (Derived, {"size": 2}, Derived(2)),
        (Strict, {"size": 2}, Strict(2)),
        (Stop, {"at": "2024-02-29"}, {"at": datetime.date(2024, 2, 29)}),
        (Cat | Dog, {"type": "Dog", "name": "Rex"}, Dog("Rex")),
        (list[Cat | Dog], [{"type": "Cat"}], [Cat()]),
        (dict[str, Numbers], {"a": [1]}, {"a": Numbers([1])}),
        (Annotated[float | None, Gt(0), Ge(1)], 2, 2.0),
        (Order, {"count": 1}, Order(count=1)),
        (Order | None, {"count": 1}, Order(count=1)),
        (
            dict[str, list[Order | None]],
            {"a": [{"count": 1, "when": "2024-02-29"}, None]},
            {"a": [Order(count=1, when=datetime.date(2024, 2, 29)), None]},
        ),
    ],
)
def test_a_value_becomes_what_the_annotation_says(
    annotation: object, sent: object, expected: object
) -> None:
    found = decoded(annotation, sent)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("annotation", "sent", "expected"),
    [
        (Point | Named, {"x": 1, "name": "n"}, Named(1.0, "n")),
        (Named | Point, {"x": 1, "y": 2}, Point(1.0, 2.0)),
        (list[Point | Named], [{"x": 1}, {"x": 2, "name": "n"}], [Point(1.0), Named(2.0, "n")]),
        (tuple[Point | Named, int], [{"x": 1}, 2], (Point(1.0), 2)),
        (Point | Named | list[Point], [{"x": 1}], [Point(1.0)]),
        (Order | Return, {"count": 1, "reason": "r"}, Return(count=1, reason="r")),
        (Place, [{"x": 1, "name": "n"}], Place(Named(1.0, "n"))),
        (Place, [{"x": 1}, "here"], Place(Point(1.0), "here")),
        (Kennel, {"type": "kennel", "bestDog": {"x": 1}}, Kennel(Point(1.0))),
        (Pair, ["pair", {"x": 1}, 5], Pair(Point(1.0), 5)),
        (Annotated[Point | Named, "where"], {"x": 1}, Point(1.0)),
    ],
)
def test_the_member_of_a_union_whose_fields_fit_is_built(
    annotation: object, sent: object, expected: object
) -> None:
    assert decoded(annotation, sent) == expected


@pytest.mark.parametrize(
    ("annotation", "sent", "field"),
    [
        (float, 10**400, "x"),
        (datetime.date, "soon", "x"),
        (Odd, 0.25, "x"),
        (list[Point], [{"x": 1}, {"x": "one"}], "x[1].x"),
        (Point, {"x": 1, "y": "two"}, "x.y"),
        (dict[str, int], {"a": "one"}, "x"),
        (dict[str, Point], {"a": {"x": 1, "z": 1}}, "x.a.z"),
        (dict[str, Point | Named], {"a": {"x": "one"}}, "x.a.x"),
        (Picky, {"size": -1}, "x"),
        (list[Picky], [{"size": 1}, {"size": -1}], "x[1]"),
        (Picky, {"size": 13}, None),
        (Mute | Point, {"size": 1}, "x"),
        (Point | Stop, {"x": "one", "at": 1}, "x"),
        (Picky | Point, {"size": 13}, "x"),
        (Strict, {"size": 1}, "x.size"),
        (Order, {"count": 0}, "x.count"),
        (list[Order], [{"count": 0}], "x[0].count"),
        (Order, {"count": 1, "when": "soon"}, "x.when"),
        (dict[str, Order], {"a": {"count": 1, "z": 1}}, "x.a.z"),
        (dict[str, Order], {"a": 1}, "x.a"),
        (tuple[Point | Named, int], [{"x": 1}], "x"),
        (tuple[Point | Named, int], [{"x": 1}, "b"], "x[1]"),
        (list[Point | Named], {"x": 1}, "x"),
        (list[Point | Named], [{"x": 1, "z": 1}], "x[0].z"),
        (Kennel, {"type": "stable", "bestDog": {"x": 1}}, "x.type"),
        (Kennel, {"type": "kennel"}, "x.bestDog"),
        (Pair, ["couple", {"x": 1}], "x[0]"),
        (Pair, ["pair"], "x"),
        (Annotated[datetime.datetime, msgspec.Meta(tz=True)], "2024-01-01T00:00:00", "x"),
        (Annotated[dict[str, Annotated[int, msgspec.Meta(ge=1)]], "n"], {"a": 0}, "x"),
    ],
)
def test_a_value_that_does_not_fit_is_a_fault_with_its_place(
    annotation: object, sent: object, field: str | None
) -> None:
    found = fault(annotation, sent)
    assert found.field == field
    assert found.message


def test_the_message_says_what_is_wrong_and_where() -> None:
    assert fault(Picky, {"size": -1}).message == "Argument `x`: size must not be negative"
    assert (
        fault(Order, {"count": 0}).message == "Argument `x.count`: Input should be greater than 0"
    )


def test_of_several_alternatives_the_nearest_failure_is_told() -> None:
    found = fault(Cat | Point | Named, {"x": 1, "name": 5})
    assert found.field == "x.name"


def test_an_argument_left_out_stays_left_out() -> None:
    @tool
    def go(when: datetime.date | None = None, where: Point | Named | None = None) -> None:
        """Go."""

    decode = go.tool.body.decode
    assert decode is not None
    assert decode({}) == {}


def test_plain_and_converted_parameters_come_together() -> None:
    @tool
    def go(name: str, when: datetime.date, where: Point | Named, share: float) -> None:
        """Go."""

    decode = go.tool.body.decode
    assert decode is not None
    arguments: JsonObject = {
        "name": "n",
        "when": "2024-02-29",
        "where": {"x": 1, "name": "n"},
        "share": 1,
    }
    assert decode(arguments) == {
        "name": "n",
        "when": datetime.date(2024, 2, 29),
        "where": Named(1.0, "n"),
        "share": 1.0,
    }


def test_a_constructor_runs_once_per_value() -> None:
    built: list[int] = []

    @dataclasses.dataclass
    class Counted:
        size: int

        def __post_init__(self) -> None:
            built.append(self.size)

    def function(x: object) -> None:
        """Do something."""

    make: Callable[..., Any] = tool
    function.__annotations__["x"] = Counted | Point
    decode = make(function).tool.body.decode
    assert decode({"x": {"size": 1}})["x"] == Counted(1)
    assert built == [1, 1], "once by decoding, once by the comparison above"
