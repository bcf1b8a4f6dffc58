"""JSON as values: one encoding for everything, depth without recursion, names for messages."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.json_value import (
    MAX_DEPTH,
    MAX_INTEGER_BITS,
    JsonValue,
    decode_json,
    depth_of,
    encode_json,
    plain,
    type_name,
)

json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**100), 2**100)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@given(json_values)
def test_json_values_survive_encoding(value: JsonValue) -> None:
    encoded = encode_json(value)
    assert decode_json(encoded) == value
    assert json.loads(encoded) == value
    assert plain(value) == value


@given(st.dictionaries(st.text(), st.integers()))
def test_the_order_of_keys_does_not_show(value: dict[str, int]) -> None:
    backwards = dict(reversed(value.items()))
    assert encode_json(value) == encode_json(backwards)


def test_encoding_is_compact_and_sorted() -> None:
    assert encode_json({"b": [1, 2.5, None], "a": "é"}) == '{"a":"é","b":[1,2.5,null]}'.encode()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (float("nan"), b"null"),
        ([float("inf"), float("-inf")], b"[null,null]"),
        ("\ud800x", b'"?x"'),
        ({"\udfff": 1}, b'{"?":1}'),
        ({1: "a"}, b'{"1":"a"}'),
        ((1, 2), b"[1,2]"),
        ({3}, b"[3]"),
        ({(1, 2): {"\ud800"}}, b'{"(1, 2)":["?"]}'),
        (2**70, str(2**70).encode()),
    ],
)
def test_what_json_cannot_hold_is_written_as_the_nearest_it_can(value: object, text: bytes) -> None:
    assert encode_json(value) == text


def test_the_largest_integer_is_written_whole_and_a_larger_one_as_words() -> None:
    largest = 2**MAX_INTEGER_BITS - 1
    assert decode_json(encode_json({"n": largest, "odd": "\ud800"})) == {"n": largest, "odd": "?"}
    assert isinstance(decode_json(encode_json(10**5_000)), str)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_an_object_that_contains_itself_is_cut_quickly(width: int) -> None:
    cycle: dict[str, object] = {"n": 1}
    cycle |= {f"again{number}": [cycle] for number in range(width)}
    assert decode_json(encode_json(cycle)) == {
        "n": 1,
        **{f"again{number}": ["…"] for number in range(width)},
    }


def test_what_nests_too_deep_is_cut_at_the_limit() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    encoded = decode_json(encode_json(value))
    assert depth_of(encoded) == MAX_DEPTH
    assert encode_json(encoded) == encode_json(value)


def _nested(levels: int) -> JsonValue:
    value: JsonValue = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value, "b": 2}
    return value


@pytest.mark.parametrize("levels", [0, 1, 2, 127, 50_000])
def test_depth_counts_containers(levels: int) -> None:
    assert depth_of(_nested(levels)) == levels


def test_depth_is_that_of_the_deepest_branch() -> None:
    assert depth_of({"a": [1, [2]], "b": {}, "c": [[[]]]}) == 4


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "a boolean"),
        (0, "a number"),
        (1.5, "a number"),
        ("", "a string"),
        ([], "an array"),
        ((), "an array"),
        ({}, "an object"),
        (object(), "an object"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_types_are_named_as_json_names_them(value: object, name: str) -> None:
    assert type_name(value) == name
