"""Envelopes made by hand: the builders of a tool author."""

import json
from collections.abc import Callable
from typing import cast

import pytest

from holdfast import ToolEnvelope
from holdfast.agent.classify import classify
from holdfast.contract import builders
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.results import Entry, FileText
from holdfast.envelope.dialects import ok

ENTRIES: list[dict[str, str]] = [
    {"name": "a.md", "path": "notes/a.md", "type": "file"},
    {"name": "old", "path": "notes/old", "type": "directory"},
]


def _wire(envelope: Envelope) -> JsonObject:
    return cast("JsonObject", json.loads(ok.render(envelope)))


def _result(envelope: Envelope) -> JsonObject:
    result = envelope.result
    assert isinstance(result, dict)
    return result


def _file(text: str = "", **further: int | bool) -> FileText:
    lines = len(text.splitlines())
    known: dict[str, object] = {
        "path": "notes/a.md",
        "text": text,
        "start_line": 1,
        "end_line": lines,
        "total_line_count": lines,
        "selected_line_count": lines,
        "total_lines_exact": True,
        "truncated": False,
        **further,
    }
    return FileText(**known)  # pyright: ignore[reportArgumentType] - a table of fields


@pytest.mark.req("OSA-TXT-01")
def test_a_success_from_text_holds_the_text_and_nothing_else() -> None:
    assert _result(builders.text("hi")) == {"text": "hi"}
    assert _wire(builders.text("hi", tool="t")) == {
        "ok": True,
        "result": {"text": "hi"},
        "tool": "t",
    }


@pytest.mark.req("OSA-ENV-07", "OSA-ENV-08")
def test_warnings_ride_along_and_an_empty_list_is_left_out() -> None:
    warned = builders.success(1, warnings=["slow disk", "low memory"])
    assert warned.ok
    assert _wire(warned) == {"ok": True, "result": 1, "warnings": ["slow disk", "low memory"]}
    assert "warnings" not in _wire(builders.success(1, warnings=[]))


@pytest.mark.req("OSA-LST-02", "OSA-LST-06")
def test_a_listing_has_its_five_fields_and_no_drawn_tree() -> None:
    assert _result(builders.listing("notes", ENTRIES)) == {
        "kind": "listing",
        "path": "notes",
        "entries": ENTRIES,
        "entry_count": 2,
        "truncated": False,
    }


@pytest.mark.req("OSA-LST-04")
def test_an_entry_has_name_path_and_one_of_two_types() -> None:
    entries = cast("list[JsonObject]", _result(builders.listing("notes", ENTRIES))["entries"])
    assert all(entry.keys() == {"name", "path", "type"} for entry in entries)
    assert [entry["type"] for entry in entries] == ["file", "directory"]


@pytest.mark.req("OSA-LST-04")
@pytest.mark.parametrize("kind", ["link", "dir", "File", ""])
def test_an_entry_of_any_other_type_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="'file' or 'directory'"):
        builders.listing("notes", [{"name": "a", "path": "a", "type": kind}])


def test_entries_may_be_values_as_well_as_mappings() -> None:
    made = [Entry("a.md", "notes/a.md", "file"), ENTRIES[1]]
    assert builders.listing("notes", made) == builders.listing("notes", ENTRIES)


@pytest.mark.req("OSA-LST-09")
@pytest.mark.parametrize("count", [0, 1, 7])
@pytest.mark.parametrize("truncated", [False, True])
def test_a_listing_always_counts_its_entries_and_says_whether_it_is_whole(
    count: int, truncated: bool
) -> None:
    entries = [{"name": str(n), "path": str(n), "type": "file"} for n in range(count)]
    result = _result(builders.listing("d", entries, truncated=truncated))
    assert result["entry_count"] == count == len(cast("list[JsonValue]", result["entries"]))
    assert result["truncated"] is truncated


@pytest.mark.req("OSA-LST-11")
def test_only_a_truncated_listing_without_remarks_gets_the_warning() -> None:
    (warning,) = builders.listing("d", ENTRIES, truncated=True).warnings
    assert "truncated" in warning
    assert "Search by name" in warning
    assert "do not conclude that something is absent" in warning
    assert builders.listing("d", ENTRIES).warnings == ()
    own = builders.listing("d", ENTRIES, truncated=True, warnings=["mine"])
    assert own.warnings == ("mine",)


@pytest.mark.req("OSA-LST-12")
def test_a_search_by_name_has_a_kind_of_its_own() -> None:
    assert _result(builders.search("a*", ENTRIES, truncated=True)) == {
        "kind": "search",
        "query": "a*",
        "entries": ENTRIES,
        "match_count": 2,
        "truncated": True,
    }


@pytest.mark.req("OSA-LST-01")
@pytest.mark.parametrize(
    ("envelope", "kind", "class_"),
    [
        (builders.listing("d", ENTRIES), "listing", "populated_listing"),
        (builders.listing("d", []), "listing", "empty_listing"),
        (builders.listing("d", ENTRIES, truncated=True), "listing", "partial_listing"),
        (builders.file(_file("x")), "file", "file_content"),
        (builders.search("x", ENTRIES), "search", "other"),
    ],
)
def test_a_result_to_route_on_says_its_kind_and_the_loop_decides_from_that(
    envelope: Envelope, kind: str, class_: str
) -> None:
    result = _result(envelope)
    assert result["kind"] == kind
    assert classify(envelope) == class_
    without = {key: value for key, value in result.items() if key != "kind"}
    assert classify(builders.success(without)) == "other"
    prose = builders.text("This is a listing of the directory d: a.md, old/")
    assert classify(prose) == "other"


@pytest.mark.req("OSA-LST-01")
def test_a_listed_path_can_be_copied_into_the_next_call() -> None:
    entries = cast("list[JsonObject]", _result(builders.listing("notes", ENTRIES))["entries"])
    assert [entry["path"] for entry in entries] == ["notes/a.md", "notes/old"]


@pytest.mark.req("OSA-FIL-02")
def test_a_file_result_names_its_lines_in_one_way() -> None:
    assert _result(builders.file(_file("one\ntwo"))) == {
        "kind": "file",
        "path": "notes/a.md",
        "text": "one\ntwo",
        "start_line": 1,
        "end_line": 2,
        "total_line_count": 2,
        "selected_line_count": 2,
        "total_lines_exact": True,
        "truncated": False,
    }


def test_a_byte_ranged_file_result_adds_its_byte_counts() -> None:
    raw = _file("x", bytes_read=1, byte_limit=1, raw_bytes_truncated=True, file_size=9)
    added = _result(builders.file(raw)).keys() - _result(builders.file(_file("x"))).keys()
    assert added == {"bytes_read", "byte_limit", "raw_bytes_truncated", "file_size"}


def test_an_empty_file_still_answers_as_a_file() -> None:
    result = _result(builders.file(_file("")))
    assert (result["kind"], result["path"], result["total_line_count"]) == ("file", "notes/a.md", 0)


@pytest.mark.req("OSA-FAI-02")
@pytest.mark.parametrize("kind", ["nonsense", "", "TIMEOUT", "Invalid_Args"])
def test_a_kind_that_does_not_exist_is_a_programming_error(kind: str) -> None:
    with pytest.raises(ValueError, match="FailureKind"):
        builders.failure(kind, "m")
    with pytest.raises(ValueError, match="FailureKind"):
        ToolEnvelope.failure(kind, "m")


@pytest.mark.req("OSA-FAI-01", "OSA-FAI-02", "OSA-FAI-07", "OSA-FAI-09")
@pytest.mark.parametrize("kind", list(FailureKind))
def test_a_failure_renders_with_its_four_fixed_keys_and_no_empty_ones(kind: FailureKind) -> None:
    wire = _wire(builders.failure(kind, "It broke."))
    assert wire == {
        "ok": False,
        "kind": kind.value,
        "message": "It broke.",
        "retryable": kind.retryable,
    }
    assert wire["ok"] is False
    assert isinstance(wire["retryable"], bool)


@pytest.mark.req("OSA-FAI-08")
@pytest.mark.parametrize("kind", list(FailureKind))
def test_a_retryable_that_is_given_wins_over_the_kind(kind: FailureKind) -> None:
    assert _wire(builders.failure(kind, "m", retryable=not kind.retryable))["retryable"] is (
        not kind.retryable
    )


@pytest.mark.req("OSA-FAI-04", "OSA-FAI-05")
def test_field_and_expected_say_which_argument_and_what_it_should_be() -> None:
    wire = _wire(builders.failure("invalid_args", "m", field="xs[1].k", expected="e.g. `3`"))
    assert wire["field"] == "xs[1].k"
    assert wire["expected"] == "e.g. `3`"


@pytest.mark.req("OSA-FAI-11")
def test_extras_appear_at_the_top_and_can_overwrite_nothing() -> None:
    shadowing: dict[str, object] = {
        "ok": True,
        "kind": "boom",
        "message": "mine",
        "field": "f",
        "expected": "e",
        "tool": "other",
        "retryable": False,
        "metadata": {"duration_ms": 1},
        "retried": True,
        "result": [1],
    }
    assert _wire(builders.failure("timeout", "m", tool="t", extras=shadowing)) == {
        "ok": False,
        "kind": "timeout",
        "message": "m",
        "tool": "t",
        "retryable": True,
        "retried": True,
        "result": [1],
    }


def test_extras_cannot_pass_for_the_warnings_of_an_envelope() -> None:
    envelope = builders.failure("timeout", "m", extras={"warnings": 5, "a": 1})
    assert _wire(envelope)["a"] == 1
    assert ok.parse(ok.render(envelope)) == envelope
    assert ok.parse(ok.render(envelope)).warnings == ()


def test_what_a_careless_author_gives_is_made_to_fit() -> None:
    careless = builders.failure(
        "timeout",
        "m\ud800",
        field=3,  # pyright: ignore[reportArgumentType] - on purpose
        expected=["a", "b"],  # pyright: ignore[reportArgumentType] - on purpose
        retryable=1,  # pyright: ignore[reportArgumentType] - on purpose
        extras={7: {1, 2}, "nan": float("nan")},  # pyright: ignore[reportArgumentType] - on purpose
    )
    assert careless.failure is not None
    assert (careless.failure.message, careless.failure.field) == ("m?", "3")
    assert careless.failure.expected == "['a', 'b']"
    assert careless.failure.retryable is True
    assert careless.failure.extras == {"7": [1, 2], "nan": None}


def _all_builders() -> list[Callable[[str | None], Envelope]]:
    return [
        lambda tool: builders.success(1, tool=tool),
        lambda tool: builders.text("x", tool=tool),
        lambda tool: builders.listing("d", ENTRIES, tool=tool),
        lambda tool: builders.search("q", ENTRIES, tool=tool),
        lambda tool: builders.file(_file("x"), tool=tool),
        lambda tool: builders.failure("timeout", "m", tool=tool),
    ]


@pytest.mark.req("OSA-ENV-03")
@pytest.mark.parametrize("build", _all_builders())
def test_the_tool_key_is_there_only_when_the_name_is_known(
    build: Callable[[str | None], Envelope],
) -> None:
    assert _wire(build("t"))["tool"] == "t"
    assert "tool" not in _wire(build(None))
    assert "tool" not in _wire(build(""))
