"""Arguments handed in as an object: copied whole, or refused; never shared with the caller."""

import enum
from collections import OrderedDict, UserDict
from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

import pytest
from preflight.kit import accepted, one, parsed, refused, unparsed
from support import make_call, make_pipeline, make_tool

from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import MAX_DEPTH, JsonValue
from holdfast.contract.runtime import Runtime
from holdfast.preflight.copying import TOO_DEEP
from holdfast.runtime.abort import Abort


class Whole(int):
    pass


class Real(float):
    pass


class Word(str):
    __slots__ = ()

    def __format__(self, spec: str) -> str:
        raise RuntimeError("not to be formatted")


class Grade(enum.IntEnum):
    GOOD = 1


class Colour(enum.StrEnum):
    RED = "red"


NOT_JSON: dict[str, tuple[Mapping[object, object], str]] = {
    "a number as key": ({1: "a"}, "the top level has a key of type int"),
    "a nested number as key": ({"o": {None: 1}}, "o has a key of type NoneType"),
    "not a number": ({"a": float("nan")}, "`a` must be a finite number; got nan"),
    "infinity": ({"a": [1.0, float("-inf")]}, "`a[1]` must be a finite number; got -inf"),
    "an object": ({"a": {"b": object()}}, "`a.b` holds a object"),
    "bytes": ({"a": b"x"}, "`a` holds a bytes"),
    "a set": ({"a": {1}}, "`a` holds a set"),
    "a lone surrogate": ({"a": "\ud800"}, "`a` is not valid Unicode text"),
    "a lone surrogate as key": ({"\ud800": object()}, "`?` is not valid Unicode text"),
    "an integer of 5,000 digits": ({"n": 10**5_000}, "`n` is an integer of too many digits"),
}


@pytest.mark.parametrize(("given", "said"), NOT_JSON.values(), ids=NOT_JSON.keys())
def test_an_object_json_cannot_hold_is_refused_and_the_place_named(
    given: Mapping[str, object], said: str
) -> None:
    failure = unparsed(given)
    assert failure.kind is FailureKind.INVALID_ARGS
    assert said in failure.message
    failure.message.encode()


def test_every_kind_of_mapping_and_sequence_is_copied_to_plain_json() -> None:
    given: Mapping[str, object] = MappingProxyType(
        {
            "user": UserDict({"a": (1, 2)}),
            "ordered": OrderedDict({"b": [None, True]}),
            "text": "é",
        }
    )
    found = parsed(given)
    assert found == {"user": {"a": [1, 2]}, "ordered": {"b": [None, True]}, "text": "é"}
    assert type(found) is type(found["user"]) is dict


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Whole(5), 5),
        (Grade.GOOD, 1),
        (Real(1.5), 1.5),
        (Word("x"), "x"),
        (Word("é"), "é"),
        (Colour.RED, "red"),
        (True, True),
    ],
)
def test_a_subclass_of_a_json_type_arrives_as_that_type(value: object, plain: JsonValue) -> None:
    found = accepted(one({}), {"x": value})["x"]
    assert (type(found), found) == (type(plain), plain)


def test_a_key_of_a_text_subclass_arrives_as_text() -> None:
    (key,) = parsed({Word("k"): {Word("inner"): 1}})
    assert type(key) is str


def test_a_subclass_is_checked_like_the_type_it_is() -> None:
    assert refused(one({"type": "string"}), {"x": Whole(5)}).field == "x"


@pytest.mark.req("OSA-VAL-23")
def test_a_mapping_that_contains_itself_is_refused_quickly() -> None:
    cycle: dict[str, object] = {}
    cycle["a"] = [cycle]
    cycle["b"] = cycle
    assert unparsed(cycle).message == TOO_DEEP


def _nested(levels: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


@pytest.mark.req("OSA-VAL-23")
def test_mappings_may_be_as_deep_as_text_and_no_deeper() -> None:
    assert parsed(_nested(MAX_DEPTH)) == _nested(MAX_DEPTH)
    assert unparsed(_nested(MAX_DEPTH + 1)).message == TOO_DEEP
    assert unparsed(_nested(100_000)).message == TOO_DEEP


def test_what_the_caller_changes_later_does_not_reach_the_parsed_copy() -> None:
    given: dict[str, list[dict[str, int]]] = {"xs": [{"n": 1}]}
    found = parsed(given)
    given["xs"][0]["n"] = 2
    given["ys"] = []
    assert found == {"xs": [{"n": 1}]}


async def test_repairs_and_bodies_do_not_reach_the_callers_object() -> None:
    def body(values: Mapping[str, object], _runtime: Runtime) -> object:
        xs = cast("list[int]", values["x"])
        xs.append(3)
        return xs

    tool = make_tool(body, schema=one({"type": "array", "items": {"type": "integer"}}))
    given = {"x": ["1", 2.0]}
    envelope = await make_pipeline(tool).settle(make_call(arguments=given), Abort())
    assert envelope.result == [1, 2, 3]
    assert given == {"x": ["1", 2.0]}


async def test_a_hostile_mapping_ends_in_an_envelope() -> None:
    cycle: dict[str, object] = {}
    cycle |= {"a": cycle, "b": cycle}
    pipeline = make_pipeline(make_tool())
    for _ in range(2):
        envelope = await pipeline.settle(make_call(arguments=cycle), Abort())
        assert envelope.failure is not None
        assert envelope.failure.message.startswith(TOO_DEEP)
