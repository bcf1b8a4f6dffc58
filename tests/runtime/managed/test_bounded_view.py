"""What a model is shown of values: as much as is worth it, whatever they are."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.runtime.managed.bounded_view import LONGEST_TEXT, MOST_BYTES, bounded, bounded_object

SMALL = st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab\n", max_size=8)


def nested(leaves: st.SearchStrategy[Any], most: int) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=most)
            | st.dictionaries(st.text("abc", max_size=5), inner, max_size=most)
        ),
        max_leaves=12,
    )


@given(nested(SMALL, 4))
def test_what_is_small_and_shallow_is_shown_whole(value: JsonValue) -> None:
    if depth(value) <= 8:
        assert bounded(value) == value


@given(nested(SMALL | st.integers(0, 30_000).map(lambda n: "x" * n), 80))
def test_whatever_it_is_the_texts_are_cut_and_little_is_left(value: JsonValue) -> None:
    shown = bounded(value)
    assert len(encode_json(shown)) <= MOST_BYTES
    assert max(map(len, texts(shown)), default=0) <= LONGEST_TEXT
    assert depth(shown) <= 9


def test_what_was_left_out_is_said() -> None:
    shown: Any = bounded({"many": list(range(60)), "long": "x" * 3000, "deep": deep(20)})
    assert (shown["many"][49], shown["many"][50]) == (49, "… 10 more")
    assert (len(shown["long"]), shown["long"][-1]) == (LONGEST_TEXT, "…")
    assert "…" in texts(shown["deep"])
    wide: Any = bounded({f"name {number}": number for number in range(60)})
    assert (len(wide), wide["…"]) == (51, "10 more")


def test_one_that_is_much_in_many_pieces_is_cut_more() -> None:
    many: list[JsonValue] = [{"text": "x" * 1999}] * 40
    shown: Any = bounded(many)
    assert len(encode_json(shown)) <= MOST_BYTES
    assert (len(shown), len(shown[0]["text"])) == (11, 400)
    row: list[JsonValue] = ["x" * 1999]
    rows: list[JsonValue] = [row * 50] * 50
    every: Any = bounded(rows)
    assert (len(every), len(every[0][0])) == (3, 80)


def test_what_is_still_too_much_is_told_by_its_size() -> None:
    wide: JsonObject = {str(one): {str(two): "x" * 90 for two in range(50)} for one in range(50)}
    told = f"{len(encode_json(wide))} bytes"
    assert bounded(wide) == told
    assert bounded_object(wide) == {"…": told}
    assert bounded_object({"a": 1}) == {"a": 1}


def deep(levels: int) -> JsonValue:
    value: JsonValue = "bottom"
    for _ in range(levels):
        value = [value]
    return value


def depth(value: JsonValue) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


def texts(value: JsonValue) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []
