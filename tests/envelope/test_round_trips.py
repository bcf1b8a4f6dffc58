"""Every dialect, there and back: what an envelope holds survives, and the bytes are stable."""

import json
from typing import cast

import msgspec
import pytest
from envelope.strategies import envelopes, json_values, steady
from hypothesis import given

from holdfast.contract.envelope import Envelope, Metadata, envelope_of
from holdfast.contract.json_value import JsonObject, JsonValue, decode_json
from holdfast.envelope.dialects import flow_text, mcp_result, ok, openai_message, program, typed
from holdfast.envelope.render import TEXT_DIALECTS, TextDialect, parse, render

FALSY: list[JsonValue] = [False, 0, "", [], {}, None]


@steady
@given(envelopes())
def test_the_ok_dialect_loses_nothing(envelope: Envelope) -> None:
    assert ok.parse(ok.render(envelope)) == envelope


@pytest.mark.req("SPEC-ENV-01")
@steady
@given(envelopes())
def test_the_typed_dialect_loses_nothing(envelope: Envelope) -> None:
    text = typed.render(envelope)
    assert cast("JsonObject", decode_json(text))["type"] in {"output", "error"}
    assert typed.parse(text) == envelope


@steady
@given(envelopes())
def test_an_mcp_result_loses_nothing(envelope: Envelope) -> None:
    wire: JsonObject = json.loads(json.dumps(mcp_result.render(envelope)))
    assert mcp_result.parse(wire, ours=True) == envelope


@steady
@given(envelopes())
def test_an_openai_message_loses_nothing_and_keeps_the_call_id(envelope: Envelope) -> None:
    message: JsonObject = json.loads(
        json.dumps(openai_message.render(envelope, tool_call_id="call_7"))
    )
    read = openai_message.parse(message)
    assert read.call_id == "call_7"
    assert (read.result_json, read.failure, read.tool, read.warnings, read.metadata) == (
        envelope.result_json,
        envelope.failure,
        envelope.tool,
        envelope.warnings,
        envelope.metadata,
    )


@steady
@given(envelopes())
def test_one_envelope_can_be_carried_from_dialect_to_dialect(envelope: Envelope) -> None:
    once = typed.parse(typed.render(ok.parse(ok.render(envelope))))
    assert mcp_result.parse(mcp_result.render(once), ours=True) == envelope


@pytest.mark.req("OSA-ENV-11")
@steady
@given(envelopes())
def test_rendering_is_byte_stable_compact_and_sorted(envelope: Envelope) -> None:
    text = ok.render(envelope)
    assert ok.render(ok.parse(text)) == text
    assert msgspec.json.encode(json.loads(text), order="sorted").decode() == text


@steady
@given(json_values)
def test_equal_results_give_equal_bytes_whatever_the_order_of_their_keys(value: JsonValue) -> None:
    def reversed_keys(value: JsonValue) -> JsonValue:
        match value:
            case dict():
                return {key: reversed_keys(value[key]) for key in reversed(value)}
            case list():
                return [reversed_keys(item) for item in value]
            case _:
                return value

    assert envelope_of(value).result_json == envelope_of(reversed_keys(value)).result_json


@pytest.mark.req("OSA-ENV-06")
@pytest.mark.parametrize("value", FALSY, ids=repr)
@pytest.mark.parametrize("dialect", ["ok", "typed"])
def test_a_falsy_result_is_a_success_that_survives(value: JsonValue, dialect: TextDialect) -> None:
    envelope = envelope_of(value)
    read = parse(render(envelope, dialect), dialect)
    assert read.ok
    assert read.result == value
    assert type(read.result) is type(value)
    if dialect == "ok":
        assert decode_json(render(envelope)) == {"ok": True, "result": value}


@pytest.mark.parametrize("value", FALSY, ids=repr)
def test_a_falsy_result_survives_an_mcp_result(value: JsonValue) -> None:
    read = mcp_result.parse(mcp_result.render(envelope_of(value)), ours=True)
    assert read.ok
    assert (type(read.result), read.result) == (type(value), value)


@steady
@given(json_values)
def test_a_flow_text_of_plain_data_reads_back_as_that_data(value: JsonValue) -> None:
    assert flow_text.parse(flow_text.render(envelope_of(value))).result == value


@steady
@given(json_values)
def test_a_program_content_reads_back_unless_it_is_text_or_an_error(value: JsonValue) -> None:
    if isinstance(value, dict) and value.keys() in ({"text"}, {"error"}):
        return
    assert program.parse(program.render(envelope_of(value), debug=True)).result == value


@steady
@given(envelopes())
def test_every_text_dialect_renders_and_reads_every_envelope(envelope: Envelope) -> None:
    for dialect in TEXT_DIALECTS:
        text = render(envelope, dialect)
        assert text == render(envelope, dialect)
        if dialect != "program":  # a transcript shows {"error": ...} whoever wrote it
            assert parse(text, dialect).ok == envelope.ok


def test_the_default_dialect_is_ok() -> None:
    envelope = envelope_of(1, tool="t")
    assert render(envelope) == ok.render(envelope)
    assert parse(ok.render(envelope)) == envelope


def test_an_empty_tool_name_counts_as_none_everywhere() -> None:
    nameless = envelope_of(1, tool="")
    assert decode_json(ok.render(nameless)) == {"ok": True, "result": 1}
    assert typed.parse(typed.render(nameless)).tool is None
    assert mcp_result.parse(mcp_result.render(nameless), ours=True).tool is None


def test_an_unmeasured_envelope_gets_its_metadata_back_as_none() -> None:
    bare = envelope_of({"a": 1})
    assert ok.parse(ok.render(bare)).metadata == Metadata()
    assert mcp_result.parse(mcp_result.render(bare), ours=True).metadata == Metadata()
