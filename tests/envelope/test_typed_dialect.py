"""The dialect with a type, and the two wire objects of model providers and MCP."""

import json
from typing import cast

import pytest
from envelope.strategies import envelopes, steady
from hypothesis import given

from holdfast.contract.builders import failure, success
from holdfast.contract.envelope import Envelope, Metadata
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.envelope.dialects import mcp_result, openai_message, typed


def _wire(envelope: Envelope) -> JsonObject:
    return cast("JsonObject", json.loads(typed.render(envelope)))


def _metadata(envelope: Envelope) -> JsonObject:
    return cast("JsonObject", _wire(envelope)["metadata"])


@pytest.mark.req("SPEC-ENV-01", "SPEC-ENV-02", "SPEC-ENV-03", "SPEC-ENV-04")
@steady
@given(envelopes())
def test_every_result_is_an_output_or_an_error_and_says_how_long_it_took(
    envelope: Envelope,
) -> None:
    wire = _wire(envelope)
    if envelope.ok:
        assert wire.keys() == {"type", "data", "metadata"}
        assert (wire["type"], wire["data"]) == ("output", envelope.result)
    else:
        assert wire.keys() == {"type", "error_text", "metadata"}
        assert wire["type"] == "error"
        assert isinstance(wire["error_text"], str)
    assert type(_metadata(envelope)["duration_ms"]) is int


@pytest.mark.req("SPEC-ENV-01")
def test_what_the_shape_has_no_place_for_rides_in_metadata() -> None:
    failed = failure(
        "invalid_args",
        "m",
        tool="t",
        field="f",
        expected="e",
        retryable=False,
        extras={"hint": [1]},
    )
    assert _wire(failed) == {
        "type": "error",
        "error_text": "m",
        "metadata": {
            "duration_ms": 0,
            "kind": "invalid_args",
            "field": "f",
            "expected": "e",
            "retryable": False,
            "extras": {"hint": [1]},
            "tool": "t",
        },
    }
    assert _metadata(success(1, tool="t", warnings=["w"])) == {
        "duration_ms": 0,
        "tool": "t",
        "warnings": ["w"],
    }


@pytest.mark.req("SPEC-ENV-04")
@pytest.mark.parametrize("envelope", [success(None), failure("timeout", "m")])
def test_metadata_and_its_duration_are_there_without_any_measurement(envelope: Envelope) -> None:
    assert type(_metadata(envelope)["duration_ms"]) is int


@pytest.mark.req("SPEC-ENV-05", "SPEC-ENV-06")
def test_truncation_is_told_only_when_output_was_cut() -> None:
    whole = _metadata(Envelope(metadata=Metadata(duration_ms=1)))
    assert "truncated" not in whole
    assert "output_path" not in whole
    cut = _metadata(Envelope(metadata=Metadata(truncated=True, output_path="/o/t-1")))
    assert cut["truncated"] is True
    assert cut["output_path"] == "/o/t-1"


def test_another_hosts_error_without_a_kind_is_an_execution_error() -> None:
    read = typed.parse('{"type":"error","error_text":"m","metadata":{"duration_ms":3,"new":1}}')
    assert read.failure is not None
    assert (read.failure.kind, read.failure.message) == (FailureKind.EXECUTION_ERROR, "m")
    assert read.metadata == Metadata(duration_ms=3)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"type":"output","data":' + "[" * 5_000,
        '{"type":"output","data":1}',
        '{"type":"output","data":1,"metadata":[]}',
        '{"type":"output","metadata":{}}',
        '{"type":"output","data":1,"error_text":"m","metadata":{}}',
        '{"type":"error","metadata":{}}',
        '{"type":"error","error_text":1,"metadata":{}}',
        '{"type":"error","error_text":"m","data":1,"metadata":{}}',
        '{"type":"other","data":1,"metadata":{}}',
        '{"type":"error","error_text":"m","metadata":{"kind":"boom"}}',
        '{"type":"output","data":1,"metadata":{"duration_ms":"1"}}',
    ],
)
def test_text_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the reason is the reader's own
        typed.parse(text)


def test_an_openai_message_answers_the_models_own_call_id() -> None:
    assert openai_message.render(success(1), tool_call_id="call_1") == {
        "role": "tool",
        "tool_call_id": "call_1",
        "content": '{"ok":true,"result":1}',
    }


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ("plain", success({"text": "plain"})),
        ("[TIMEOUT] slow", failure("execution_error", "[TIMEOUT] slow")),
        ('{"ok":false,"kind":"new","message":"m"}', failure("execution_error", "m")),
        (None, success({"text": ""})),
    ],
)
def test_a_tool_message_of_another_host_is_read_as_far_as_it_goes(
    content: JsonValue, read: Envelope
) -> None:
    assert openai_message.parse({"role": "tool", "content": content}) == read


def test_an_mcp_result_has_parts_structure_and_the_error_flag() -> None:
    wire = mcp_result.render(success({"rows": [1]}, tool="t", warnings=["w"]))
    assert wire["isError"] is False
    assert wire["structuredContent"] == {"rows": [1]}
    assert wire["content"] == [
        {"type": "text", "text": '{"rows":[1]}'},
        {"type": "text", "text": "w"},
    ]
    failed = mcp_result.render(failure("timeout", "too slow"))
    assert failed["isError"] is True
    assert failed["content"] == [{"type": "text", "text": "too slow"}]
    assert "structuredContent" not in failed


def test_what_is_known_of_a_failure_stands_behind_its_message() -> None:
    told = failure("execution_error", "exit status 1", extras={"stdout": "got 4", "hint": "look"})
    assert mcp_result.render(told)["content"] == [
        {"type": "text", "text": "exit status 1"},
        {"type": "text", "text": '{"hint":"look","stdout":"got 4"}'},
    ]
    wrong = failure("invalid_args", "no", field="a", expected="1")
    assert mcp_result.render(wrong)["content"] == [
        {"type": "text", "text": "no"},
        {"type": "text", "text": '{"expected":"1","field":"a"}'},
    ]
    assert mcp_result.parse(mcp_result.render(told), ours=True) == told


@pytest.mark.parametrize(
    ("result", "text"),
    [({"text": "hi"}, "hi"), ("hi", "hi"), ([1, 2], "[1,2]"), (None, "null")],
)
def test_an_mcp_part_shows_text_as_text_and_the_rest_as_json(result: JsonValue, text: str) -> None:
    assert mcp_result.render(success(result))["content"] == [{"type": "text", "text": text}]


@pytest.mark.parametrize("kind", ["image", "binary"])
def test_stored_content_becomes_a_link_with_a_proper_uri(kind: str) -> None:
    stored = {"kind": kind, "path": "/a b/ü#1.png", "media_type": "image/png", "byte_count": 3}
    assert mcp_result.render(success(stored))["content"] == [
        {
            "type": "resource_link",
            "uri": "file:///a%20b/%C3%BC%231.png",
            "name": "ü#1.png",
            "mimeType": "image/png",
        }
    ]
    relative = mcp_result.render(success({**stored, "path": "a.png"}))
    assert cast("list[JsonObject]", relative["content"])[0]["type"] == "text"


@pytest.mark.parametrize(
    ("wire", "read"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": []}, ""),
        ({}, ""),
        ({"content": [5]}, ""),
    ],
)
def test_another_servers_text_parts_are_joined(wire: JsonObject, read: str) -> None:
    assert mcp_result.parse(wire) == success({"text": read})


def test_another_servers_structure_parts_and_errors_are_read() -> None:
    structured: JsonObject = {"structuredContent": {"a": 1}, "content": []}
    assert mcp_result.parse(structured) == success({"a": 1})
    picture: JsonObject = {"type": "image", "data": "eA==", "mimeType": "image/png"}
    assert mcp_result.parse({"content": [picture]}) == success({"parts": [picture]})
    broken: JsonObject = {"isError": True, "content": [{"type": "text", "text": "no such row"}]}
    assert mcp_result.parse(broken) == failure("execution_error", "no such row")


@pytest.mark.parametrize(
    "meta",
    [5, {}, {mcp_result.META_KEY: 5}, {mcp_result.META_KEY: {"failure": {"kind": "boom"}}}],
)
def test_a_meta_that_is_not_ours_is_passed_over(meta: JsonValue) -> None:
    wire: JsonObject = {"content": [{"type": "text", "text": "x"}], "_meta": meta}
    assert mcp_result.parse(wire) == success({"text": "x"})


def test_a_forged_meta_cannot_make_reading_fail() -> None:
    forged: JsonObject = {
        "content": [{"type": "text", "text": "{not json"}],
        "_meta": {mcp_result.META_KEY: {"first_part": "json"}},
    }
    assert mcp_result.parse(forged) == success({"text": "{not json"})
    without_text: JsonObject = {"content": [], "_meta": forged["_meta"]}
    assert mcp_result.parse(without_text) == success({"text": ""})
