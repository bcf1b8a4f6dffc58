"""The text of a flow session's tool_result: exact forms, limits and markers."""

import datetime
import decimal
import json
from collections.abc import Callable
from typing import cast

import pydantic
import pytest
from envelope.strategies import steady
from hypothesis import given
from hypothesis import strategies as st
from support import make_tool, settle

from holdfast.contract.backend import (
    CodeResult,
    CommandResult,
    FileContent,
    FileEntries,
    FileEntry,
    FileWriteResult,
    ToolExecutionFailure,
    ToolResult,
)
from holdfast.contract.builders import failure, success
from holdfast.contract.envelope import envelope_of
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject
from holdfast.envelope.detect import is_error, is_success
from holdfast.envelope.dialects import flow_text, ok
from holdfast.envelope.dialects.flow_text import MARKER, serialize

pytestmark = pytest.mark.anyio


class Order(pydantic.BaseModel):
    number: int
    when: datetime.date
    note: str = "é"


class Novel(ToolResult, frozen=True):
    """A result class nobody has heard of."""

    depth: int = 3


def _object(text: str) -> JsonObject:
    return cast("JsonObject", json.loads(text))


def _entries(count: int) -> FileEntries:
    names = [f"f{number:04d}" for number in range(count)]
    return FileEntries(tuple(FileEntry(name, f"/w/{name}", is_dir=False) for name in names))


def _command(size: int) -> ToolResult:
    return CommandResult(0, b"o" * size, b"e" * size, 1.0)


def _code(size: int) -> ToolResult:
    return CodeResult(stdout="o" * size, stderr="e" * size)


@pytest.mark.req("RATH-SER-02")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"words": 3}, '{"words": 3}'),
        ([1, "a", None], '[1, "a", null]'),
        (42, "42"),
        ("hi", '"hi"'),
        ({"ok": False}, '{"ok": false}'),
    ],
)
def test_plain_data_becomes_its_json_text(value: object, text: str) -> None:
    assert serialize(value) == text


def test_plain_json_text_is_cut_after_48000_characters_with_the_marker() -> None:
    whole = serialize("x" * 47_998)
    assert len(whole) == 48_000
    assert json.loads(whole) == "x" * 47_998
    cut = serialize("x" * 47_999)
    assert cut == '"' + "x" * 47_999 + "...(truncated)"
    wide = serialize(["é" * 100] * 1_000)
    assert len(wide) == 48_000 + len("...(truncated)")


@pytest.mark.req("RATH-SER-04")
def test_none_tuples_and_other_alphabets_have_their_natural_form() -> None:
    assert serialize(None) == "null"
    assert serialize((1, (2, None))) == "[1, [2, null]]"
    assert serialize({"naïve": "日本 😀"}) == '{"naïve": "日本 😀"}'


@pytest.mark.req("RATH-SER-05")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (decimal.Decimal("1.50"), '"1.50"'),
        ([datetime.date(2026, 1, 2)], '["2026-01-02"]'),
        (1j, '"1j"'),
        (b"ab", "\"b'ab'\""),
        (ValueError("v"), '"v"'),
    ],
    ids=["decimal", "date", "complex", "bytes", "error"],
)
def test_what_json_cannot_hold_becomes_its_str_form(value: object, text: str) -> None:
    assert serialize(value) == text


@pytest.mark.req("RATH-SER-05")
@pytest.mark.parametrize(
    ("value", "name"),
    [({(1, 2): 3}, "dict"), ([{(1, 2): "é"}], "list"), ({frozenset({1}): 1}, "dict")],
    ids=["tuple-key", "nested", "set-key"],
)
def test_a_key_that_is_no_text_gives_the_repr_and_the_type(value: object, name: str) -> None:
    assert serialize(value) == json.dumps({"repr": repr(value), "type": name}, ensure_ascii=False)


def test_even_a_repr_that_raises_gives_an_object() -> None:
    class Broken(dict[object, object]):
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert _object(serialize(Broken({(1, 2): 3}))) == {
        "repr": "<Broken: repr() raised RuntimeError>",
        "type": "Broken",
    }


@pytest.mark.req("RATH-SER-06")
def test_nan_and_infinity_become_null_at_any_depth() -> None:
    value = {"a": float("nan"), "b": [float("inf"), {"c": (-float("inf"), 1.5)}]}
    assert serialize(value) == '{"a": null, "b": [null, {"c": [null, 1.5]}]}'
    assert serialize(float("nan")) == "null"
    assert serialize(CommandResult(0, b"", b"", float("nan"))).endswith('"elapsed_ms": null}')


@pytest.mark.req("RATH-SER-07")
def test_a_pydantic_model_is_dumped_and_then_plain_data() -> None:
    order = Order(number=1, when=datetime.date(2026, 1, 2))
    assert serialize(order) == '{"number": 1, "when": "2026-01-02", "note": "é"}'
    long = serialize(Order(number=1, when=datetime.date(2026, 1, 2), note="x" * 50_000))
    assert len(long) == 48_000 + len(MARKER)
    assert long.endswith(MARKER)


@pytest.mark.req("RATH-SER-08")
def test_a_command_result_has_four_keys_and_any_exit_code_is_ordinary() -> None:
    assert serialize(CommandResult(2, b"out\n", b"err", 1.5)) == (
        '{"exit_code": 2, "stdout": "out\\n", "stderr": "err", "elapsed_ms": 1.5}'
    )


@pytest.mark.req("RATH-SER-09")
@pytest.mark.parametrize("make", [_command, _code])
def test_each_stream_is_cut_by_itself_after_48000_characters(
    make: Callable[[int], ToolResult],
) -> None:
    fits = _object(serialize(make(48_000)))
    assert (fits["stdout"], fits["stderr"]) == ("o" * 48_000, "e" * 48_000)
    over = _object(serialize(make(48_001)))
    assert over["stdout"] == "o" * 48_000 + "...(truncated)"
    assert over["stderr"] == "e" * 48_000 + "...(truncated)"
    assert over.keys() == fits.keys()


@pytest.mark.req("RATH-SER-10")
def test_file_data_is_cut_inside_the_value_so_that_the_text_stays_json() -> None:
    assert serialize(FileContent("hello")) == '{"data": "hello"}'
    assert _object(serialize(FileContent("x" * 12_000))) == {"data": "x" * 12_000}
    over = serialize(FileContent("x" * 12_001))
    assert _object(over) == {"data": "x" * 12_000 + "...(truncated)"}


@pytest.mark.req("RATH-SER-11")
def test_file_entries_are_the_first_500() -> None:
    assert _object(serialize(_entries(2))) == {
        "entries": [
            {"name": "f0000", "path": "/w/f0000", "is_dir": False},
            {"name": "f0001", "path": "/w/f0001", "is_dir": False},
        ]
    }
    shown = cast("list[JsonObject]", _object(serialize(_entries(501)))["entries"])
    assert [entry["name"] for entry in shown] == [f"f{n:04d}" for n in range(500)]


@pytest.mark.req("RATH-SER-12")
def test_a_total_tells_how_many_entries_there_are_only_when_some_were_left_out() -> None:
    assert "total" not in _object(serialize(_entries(500)))
    assert _object(serialize(_entries(501)))["total"] == 501


@pytest.mark.req("RATH-SER-13")
def test_a_write_result_is_its_byte_count() -> None:
    assert serialize(FileWriteResult(5)) == '{"bytes_written": 5}'


@pytest.mark.req("RATH-SER-14")
@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (CodeResult(), {"text": None, "stdout": "", "stderr": "", "error": None}),
        (
            CodeResult("7", "o", "e", "ZeroDivisionError"),
            {"text": "7", "stdout": "o", "stderr": "e", "error": "ZeroDivisionError"},
        ),
    ],
)
def test_a_code_result_always_has_its_four_keys(result: CodeResult, expected: JsonObject) -> None:
    assert _object(serialize(result)) == expected


@pytest.mark.req("RATH-SER-15", "OSA-DET-18")
@pytest.mark.parametrize("value", [True, False])
async def test_a_bool_is_an_object_in_the_chunk_and_a_success_in_the_envelope(value: bool) -> None:
    assert serialize(value) == json.dumps({"ok": value})
    answer = await settle(make_tool(lambda _values, _runtime: value))
    assert answer.ok
    assert answer.result is value
    assert flow_text.render(answer) == json.dumps({"ok": value})
    assert is_success(ok.render(answer))
    read = flow_text.parse('{"ok": false}')
    assert read.ok
    assert read.result is False
    assert is_error('{"ok": false}')  # why a detector must never see a chunk


@pytest.mark.req("RATH-SER-16")
@pytest.mark.parametrize("detail", [None, ""])
def test_a_failure_value_has_its_own_kind_and_a_detail_only_if_there_is_one(
    detail: str | None,
) -> None:
    assert serialize(ToolExecutionFailure("timeout", "slow", detail)) == (
        '{"ok": false, "error_kind": "timeout", "message": "slow"}'
    )
    assert _object(serialize(ToolExecutionFailure("os_error", "m", "EACCES"))) == {
        "ok": False,
        "error_kind": "os_error",
        "message": "m",
        "detail": "EACCES",
    }


@pytest.mark.req("RATH-SER-17")
def test_an_unknown_result_class_is_named() -> None:
    assert serialize(Novel()) == '{"type": "Novel", "note": "unserialised result"}'


@pytest.mark.req("RATH-SER-18")
@pytest.mark.parametrize(
    ("content", "text"),
    [("é😀".encode(), "é😀"), (b"\xff\xfe", "ÿþ"), (b"ok\xff", "okÿ"), (b"", "")],
)
def test_bytes_are_decoded_one_way_or_the_other_and_escaped(content: bytes, text: str) -> None:
    results: dict[str, ToolResult] = {
        "data": FileContent(content),
        "stdout": CommandResult(0, content, b"", 1.0),
        "stderr": CommandResult(0, b"", content, 1.0),
    }
    for key, result in results.items():
        written = serialize(result)
        assert written.isascii()
        assert "b'" not in written
        assert _object(written)[key] == text


@steady
@given(st.binary(max_size=50))
def test_no_bytes_of_a_file_can_break_the_text(content: bytes) -> None:
    assert _object(serialize(FileContent(content))).keys() == {"data"}


def test_file_names_that_are_not_unicode_leave_valid_json() -> None:
    named = FileEntries((FileEntry("a\udcff", "/w/a\udcff", is_dir=False),))
    assert "\\udcff" not in serialize(named)
    assert _object(serialize(named))["entries"] == [
        {"name": "a?", "path": "/w/a?", "is_dir": False}
    ]


def test_an_envelope_alone_renders_like_the_value_it_was_made_of() -> None:
    assert flow_text.render(success({"a": 1})) == '{"a": 1}'
    backend = failure("not_found", "m", extras={"error_kind": "file_not_found", "detail": "d"})
    assert _object(flow_text.render(backend)) == {
        "ok": False,
        "error_kind": "file_not_found",
        "message": "m",
        "detail": "d",
    }
    assert _object(flow_text.render(failure("timeout", "m", extras={"detail": 5}))) == {
        "ok": False,
        "error_kind": "timeout",
        "message": "m",
    }


def test_a_chunk_reads_back() -> None:
    assert flow_text.parse("cut...(truncated)") == success({"text": "cut...(truncated)"})
    assert flow_text.parse('{"ok": true}') == envelope_of(True)
    assert flow_text.parse('{"ok": false, "more": 1}') == envelope_of({"ok": False, "more": 1})
    known = flow_text.parse('{"ok": false, "error_kind": "timeout", "message": "m"}')
    assert known == failure("timeout", "m", extras={"error_kind": "timeout"})
    foreign = flow_text.parse('{"ok": false, "error_kind": "os_error", "detail": "d"}')
    assert foreign.failure is not None
    assert foreign.failure.kind is FailureKind.EXECUTION_ERROR
    assert foreign.failure.extras == {"error_kind": "os_error", "detail": "d"}


def test_one_function_serves_every_kind_of_return_value() -> None:
    by_type: dict[str, object] = {
        '{"a": 1}': {"a": 1},
        '{"ok": true}': True,
        '{"bytes_written": 1}': FileWriteResult(1),
        '{"data": "x"}': FileContent("x"),
        '{"entries": []}': FileEntries(()),
        '{"ok": false, "error_kind": "timeout", "message": "m"}': ToolExecutionFailure(
            "timeout", "m"
        ),
        "null": None,
    }
    assert [serialize(value) for value in by_type.values()] == list(by_type)


@pytest.mark.parametrize(
    ("value", "cut"),
    [
        (_command(48_000), False),
        (_command(48_001), True),
        (_code(48_000), False),
        (_code(48_001), True),
        (CodeResult(stderr="e" * 48_001), True),
        (FileContent(b"x" * 12_000), False),
        (FileContent(b"x" * 12_001), True),
        (_entries(500), False),
        (_entries(501), True),
        (FileWriteResult(3), False),
        (ToolExecutionFailure("timeout", "x" * 50_000), False),
        (Novel(), False),
        (True, False),
        ("x" * 47_998, False),
        ("x" * 47_999, True),
    ],
)
def test_it_is_known_whether_a_text_leaves_something_out(value: object, cut: bool) -> None:
    assert flow_text.is_cut(value, serialize(value)) is cut
