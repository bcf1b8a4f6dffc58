"""The one output bound: what is cut, what stays, and what is said about it."""

from typing import cast

import pytest
from envelope.strategies import json_values, steady
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.builders import failure, success
from holdfast.contract.envelope import Envelope, envelope_of
from holdfast.contract.failure import Failure
from holdfast.contract.json_value import JsonObject, JsonValue, decode_json, encode_json
from holdfast.contract.ports import StoredOutput
from holdfast.contract.tool import OutputBound
from holdfast.envelope.bound import TAIL_BYTES, bound_envelope, may_exceed
from holdfast.envelope.dialects import ok


class Kept:
    """A store with a quota that remembers what it was given and what it took."""

    def __init__(self, quota: int | None = None) -> None:
        self.quota = quota
        self.given: bytes | None = None
        self.taken: bytes | None = None

    def __call__(self, content: bytes) -> StoredOutput | None:
        self.given = content
        if self.quota == 0 and content:
            return None
        self.taken = content if self.quota is None else content[: self.quota]
        return StoredOutput(path="/kept", stored_bytes=len(self.taken))


def _bounded(value: object, *, kept: Kept | None = None, **bound: object) -> Envelope:
    limits = OutputBound(**bound)  # pyright: ignore[reportArgumentType] - the table decides
    return bound_envelope(envelope_of(value), limits, kept or Kept())


def _result(envelope: Envelope) -> JsonObject:
    return cast("JsonObject", envelope.result)


def _as_text(value: JsonValue) -> str:
    """How a cut value is written: text as it is, a list line by line, the rest as JSON."""
    if isinstance(value, list):
        as_is = not any(isinstance(item, str) and "\n" in item for item in value)
        return "\n".join(
            item if as_is and isinstance(item, str) else encode_json(item).decode()
            for item in value
        )
    return value if isinstance(value, str) else encode_json(value).decode()


@pytest.mark.req("SPEC-TRUNC-15", "SPEC-TRUNC-18", "SPEC-TRUNC-19")
@steady
@given(json_values, st.integers(min_value=0, max_value=60))
def test_whatever_is_cut_the_head_is_a_beginning_and_the_counts_are_exact(
    value: JsonValue, limit: int
) -> None:
    kept = Kept()
    bounded = _bounded(value, kept=kept, max_bytes=limit)
    told = bounded.metadata
    if not told.truncated:
        assert bounded.result == value
        assert kept.given is None
        assert told == envelope_of(0).metadata
        return
    content = kept.given
    assert content is not None
    head = _result(bounded)["head"]
    assert isinstance(head, str)
    assert content.startswith(head.encode())
    assert len(head.encode()) <= limit
    assert told.output_bytes == len(content)
    assert (told.output_path, told.dropped_bytes) == ("/kept", None)
    assert told.tail is not None
    assert content.endswith(told.tail.encode())
    assert len(told.tail.encode()) <= TAIL_BYTES
    _nothing_else_changed(value, bounded, content)


def _nothing_else_changed(value: JsonValue, bounded: Envelope, content: bytes) -> None:
    beside = {key: item for key, item in _result(bounded).items() if key != "head"}
    if isinstance(value, dict) and beside:
        (cut,) = value.keys() - beside.keys()
        assert beside == {key: item for key, item in value.items() if key != cut}
        assert content.decode() == _as_text(value[cut])
    elif isinstance(value, dict) and len(value) == 1 and "head" not in value:
        assert content.decode() in {_as_text(*value.values()), encode_json(value).decode()}
    elif isinstance(value, dict):
        assert content == encode_json(value)
    else:
        assert content.decode() == _as_text(value)


@pytest.mark.req("SPEC-TRUNC-16")
@steady
@given(st.text(min_size=1, max_size=40))
def test_output_of_exactly_the_limit_is_whole_and_one_byte_less_is_not(text: str) -> None:
    size = len(text.encode())
    for value in (text, {"text": text}, {"stdout": text}):
        assert _bounded(value, max_bytes=size).result == value
        assert _bounded(value, max_bytes=size - 1).metadata.truncated


@pytest.mark.req("SPEC-TRUNC-16")
def test_a_list_of_exactly_the_limit_is_whole() -> None:
    lines: list[JsonValue] = ["ab", "cd", 5]  # ab\ncd\n5 are seven bytes
    assert _bounded(lines, max_bytes=7).result == lines
    assert _result(_bounded(lines, max_bytes=6)) == {"head": "ab\ncd\n"}


@steady
@given(json_values, st.integers(min_value=0, max_value=200))
def test_the_cheap_look_never_misses_what_has_to_be_cut(value: JsonValue, limit: int) -> None:
    bound = OutputBound(max_bytes=limit)
    if not may_exceed(envelope_of(value), bound):
        assert not _bounded(value, max_bytes=limit).metadata.truncated


@pytest.mark.req("SPEC-TRUNC-15")
@pytest.mark.parametrize("limit", range(12))
def test_the_cut_never_tears_a_character(limit: int) -> None:
    bounded = _bounded("aé€😀😀", max_bytes=limit)
    head = str(_result(bounded)["head"])
    fitting = [n for n in (0, 1, 3, 6, 10) if n <= limit]
    assert len(head.encode()) == fitting[-1]
    assert bounded.metadata.tail is not None
    assert head + bounded.metadata.tail == "aé€😀😀"


@pytest.mark.req("SPEC-TRUNC-17")
def test_the_other_fields_stay_beside_the_head() -> None:
    shell = {"stdout": "o" * 300, "stderr": "e" * 300, "exit_code": 3, "timed_out": False}
    bounded = _bounded(shell, max_bytes=400, fields=("stdout", "stderr"))
    assert _result(bounded) == {
        "exit_code": 3,
        "timed_out": False,
        "head": "o" * 300 + "e" * 100,
    }


@pytest.mark.req("SPEC-TRUNC-17")
def test_without_declared_fields_the_largest_one_is_cut() -> None:
    bounded = _bounded({"log": "x" * 500, "name": "short", "n": 1}, max_bytes=100)
    result = _result(bounded)
    head = str(result.pop("head"))
    assert result == {"name": "short", "n": 1}
    assert set(head) == {"x"}
    assert len(bounded.result_json) <= 120


@pytest.mark.req("SPEC-TRUNC-18")
@pytest.mark.parametrize("fields", [(), ("matches",)], ids=["largest", "declared"])
def test_a_list_becomes_lines_in_place_of_the_list(fields: tuple[str, ...]) -> None:
    found = {"matches": [f"src/{n}.py" for n in range(50)], "query": "*.py"}
    bounded = _bounded(found, max_bytes=100, fields=fields)
    result = _result(bounded)
    assert result.keys() == {"head", "query"}
    whole = "\n".join(f"src/{n}.py" for n in range(50))
    assert whole.startswith(str(result["head"]))
    assert "\n" in str(result["head"])


@pytest.mark.req("SPEC-TRUNC-18")
@pytest.mark.parametrize("value", [["x" * 9] * 9, {"a": 10**80}, 10**80, "x" * 80, [{"a": 1}] * 9])
def test_the_head_is_a_string_whatever_was_cut(value: JsonValue) -> None:
    assert isinstance(_result(_bounded(value, max_bytes=20))["head"], str)


@pytest.mark.parametrize("fields", [(), ("rows",)], ids=["undeclared", "declared"])
def test_a_list_is_bounded_by_its_length_as_well(fields: tuple[str, ...]) -> None:
    for rows in ([1, 2, 3], []):
        value: JsonObject = {"rows": [*rows], "sql": "select 1 from a_table"}
        whole = _bounded(value, max_items=3, fields=fields)
        assert whole.result == value
        assert not whole.metadata.truncated
    kept = Kept()
    over = _bounded(
        {"rows": [1, 2, 3, 4], "sql": "select 1 from a_table"},
        kept=kept,
        max_items=3,
        fields=fields,
    )
    assert over.result == {"sql": "select 1 from a_table", "head": "1\n2\n3"}
    assert kept.given == b"1\n2\n3\n4"
    assert over.metadata.tail == "\n4"


def test_a_bare_list_is_bounded_by_its_length() -> None:
    assert _bounded([1, 2], max_items=2).result == [1, 2]
    assert _bounded([1, 2, 3], max_items=2).result == {"head": "1\n2"}
    assert _bounded("three words here", max_items=2).result == "three words here"


def test_both_bounds_apply_and_the_tighter_one_counts() -> None:
    rows = ["x" * 10] * 10
    assert _bounded(rows, max_items=5, max_bytes=15).result == {"head": "x" * 10 + "\n"}
    assert _bounded(rows, max_items=1, max_bytes=15).result == {"head": "x" * 10}


@pytest.mark.parametrize(
    ("value", "bound"),
    [
        ({"head": "mine", "log": "x" * 500}, {}),
        ({"head": "mine", "log": "x" * 500}, {"fields": ("log",)}),
        ({"a": "x" * 90, "b": "y" * 80}, {}),
        ({"log": "short", "rest": "x" * 9_000}, {"fields": ("log",)}),
        ({"rows": [1, 2, 3], "rest": "x" * 9_000}, {"max_items": 2}),
    ],
    ids=["a-head", "a-head-beside", "no-largest", "huge-beside", "huge-beside-a-list"],
)
def test_where_nothing_can_stay_beside_the_whole_is_cut(
    value: JsonObject, bound: dict[str, object]
) -> None:
    kept = Kept()
    bounded = _bounded(value, kept=kept, max_bytes=100, **bound)
    assert kept.given == encode_json(value)
    assert bounded.result == {"head": encode_json(value).decode()[:100]}


def test_an_empty_object_is_never_cut() -> None:
    assert _bounded({}, max_bytes=2).result == {}


@pytest.mark.req("SPEC-TRUNC-19")
@steady
@given(st.integers(min_value=1, max_value=300))
def test_past_the_quota_the_rest_is_dropped_and_counted(quota: int) -> None:
    kept = Kept(quota)
    bounded = _bounded("x" * 300, kept=kept, max_bytes=50)
    assert kept.taken == b"x" * quota
    assert bounded.metadata.output_bytes == 300
    assert bounded.metadata.dropped_bytes == (300 - quota or None)
    assert bounded.metadata.output_path == "/kept"


def test_without_any_store_head_and_tail_are_all_there_is() -> None:
    bounded = _bounded("x" * 5_000, kept=Kept(0), max_bytes=100)
    told = bounded.metadata
    assert (told.truncated, told.output_path, told.output_bytes) == (True, None, 5_000)
    assert told.tail == "x" * TAIL_BYTES
    assert told.dropped_bytes == 5_000 - 100 - TAIL_BYTES
    near = _bounded("x" * 200, kept=Kept(0), max_bytes=100)
    assert near.metadata.tail == "x" * 100
    assert near.metadata.dropped_bytes is None


def _failure(envelope: Envelope) -> Failure:
    assert envelope.failure is not None
    return envelope.failure


def _bound_failure(envelope: Envelope, limit: int = 1_000) -> tuple[Envelope, Kept]:
    kept = Kept()
    bound = OutputBound(max_bytes=limit)
    assert may_exceed(envelope, bound)
    return bound_envelope(envelope, bound, kept), kept


def test_a_failure_that_is_too_large_stays_a_failure_and_is_kept_whole() -> None:
    large = failure(
        "timeout",
        "m" * 9_000,
        field="f" * 3_000,
        expected="e" * 3_000,
        extras={"stdout": "o" * 9_000, "lines": ["l"] * 5_000, "code": 3},
    )
    bounded, kept = _bound_failure(large)
    shown = _failure(bounded)
    assert (shown.kind, shown.retryable) == ("timeout", True)
    assert "TRUNCATED: 5000 of 9000" in shown.message
    for text in (shown.field, shown.expected, shown.extras["stdout"], shown.extras["lines"]):
        assert "TRUNCATED" in str(text)
        assert len(str(text)) < 2_100
    assert shown.extras["code"] == 3
    assert kept.given == encode_json(large.failure)
    told = bounded.metadata
    assert (told.truncated, told.output_path, told.tail) == (True, "/kept", None)
    assert told.output_bytes == len(encode_json(large.failure))
    assert told.dropped_bytes is None


def test_many_small_extras_cannot_make_a_failure_boundless() -> None:
    many = failure("timeout", "m", extras={f"k{n}": "x" * 1_000 for n in range(1_000)})
    bounded, kept = _bound_failure(many)
    assert 1 < len(_failure(bounded).extras) < 20
    assert len(ok.render(bounded)) < 20_000
    whole = cast("dict[str, JsonObject]", decode_json(kept.given or b""))
    assert len(whole["extras"]) == 1_000


def test_a_failure_that_could_not_be_kept_counts_what_is_lost() -> None:
    large = failure("timeout", "m", extras={"stdout": "o" * 9_000})
    bounded = bound_envelope(large, OutputBound(max_bytes=1_000), Kept(0))
    lost = bounded.metadata.dropped_bytes
    assert lost is not None
    assert 6_900 < lost <= 7_000
    assert bounded.metadata.output_path is None


@pytest.mark.parametrize("limit", [1, 1_000])
def test_a_failure_with_nothing_long_in_it_is_left_as_it_is(limit: int) -> None:
    small = failure("timeout", "m" * 100, field="f", extras={"code": 3, "note": "n" * 200})
    bounded, kept = _bound_failure(small, limit)
    assert bounded == small
    assert kept.given is None


def test_a_plain_failure_needs_no_closer_look() -> None:
    assert not may_exceed(failure("timeout", "m", field="f", expected="e"), OutputBound())
    assert may_exceed(failure("timeout", "m", expected="e" * 2_001), OutputBound())
    assert may_exceed(failure("timeout", "m" * 4_001), OutputBound())


def test_warnings_are_bounded_too() -> None:
    fine = success(1, warnings=["w" * 1_000] * 20)
    assert not may_exceed(fine, OutputBound())
    noisy = success(1, warnings=["w" * 5_000, *map(str, range(99))])
    bounded, kept = _bound_failure(noisy)
    assert kept.given is None
    assert bounded.result == 1
    assert "TRUNCATED: 4000 of 5000" in bounded.warnings[0]
    assert bounded.warnings[1:20] == tuple(map(str, range(19)))
    assert bounded.warnings[20:] == ("80 further warnings were left out.",)
    long, _ = _bound_failure(success(1, warnings=["w" * 5_000]))
    assert len(long.warnings) == 1
    failed = Envelope(failure=failure("timeout", "m").failure, warnings=("w" * 5_000,))
    assert len(_bound_failure(failed)[0].warnings[0]) < 1_100


def test_the_lines_of_a_cut_list_are_its_items_one_each() -> None:
    texts: list[str] = []

    def keep(content: bytes) -> StoredOutput:
        texts.append(content.decode())
        return StoredOutput(path="/kept", stored_bytes=len(content))

    for rows in (["a\nb"] * 20, ["a", "b"] * 20):
        bound_envelope(envelope_of(rows), OutputBound(max_bytes=20), keep)
    with_breaks, plain_rows = texts
    assert [decode_json(line) for line in with_breaks.splitlines()] == ["a\nb"] * 20
    assert plain_rows.splitlines() == ["a", "b"] * 20


def test_the_head_of_a_list_ends_with_a_whole_item() -> None:
    head = _bounded([1_234_567] * 10, max_bytes=20).result
    assert head == {"head": "1234567\n1234567\n"}


def test_the_head_of_a_list_is_how_its_file_begins() -> None:
    kept: list[bytes] = []

    def keep(content: bytes) -> StoredOutput:
        kept.append(content)
        return StoredOutput(path="/kept", stored_bytes=len(content))

    cut = bound_envelope(envelope_of(["a", "b", "c\nd"]), OutputBound(max_items=2), keep)
    assert isinstance(cut.result, dict)
    assert kept[0].decode().startswith(str(cut.result["head"]))
