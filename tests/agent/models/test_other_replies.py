"""Replies of Responses and of Anthropic's Messages, with what goes back to them."""

import json
from typing import Any

import pytest
from agent.models.streams import RICH, STREAMS, read_document, read_whole
from model_server import message_whole, response_whole

from holdfast.agent.models import anthropic, openai_responses
from holdfast.agent.models.scripted import Turn
from holdfast.contract.chunks import AskedCall
from holdfast.contract.model import CallDelta, ModelDelta, ModelError, ModelUsage

CALLS = (AskedCall("c1", "f", '{"a": "ü"}'), AskedCall("c2", "g", ""))


def _stream(*events: dict[str, Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in events)


def test_a_response_keeps_its_sealed_reasoning_for_later() -> None:
    reply = read_whole(*STREAMS["responses"])
    assert (reply.text, reply.reasoning, reply.calls) == (RICH.text, RICH.reasoning, CALLS)
    assert (reply.finish, reply.usage) == ("tool_calls", RICH.usage)
    block = {
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "thinking about it"}],
        "id": "rs_1",
        "encrypted_content": "sealed",
    }
    assert reply.opaque == {"openai_responses": [{"at": 0, "block": block}]}


def test_a_message_keeps_its_signed_thinking_for_later() -> None:
    reply = read_whole(*STREAMS["messages"])
    assert (reply.text, reply.reasoning, reply.calls) == (RICH.text, RICH.reasoning, CALLS)
    assert (reply.finish, reply.usage) == ("tool_calls", RICH.usage)
    block = {"type": "thinking", "signature": "signed", "thinking": "thinking about it"}
    assert reply.opaque == {"anthropic": [{"at": 0, "block": block}]}


def test_thinking_between_words_and_calls_keeps_its_place() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "a"},
        {"type": "redacted_thinking", "data": "sealed"},
        {"type": "tool_use", "id": "c1", "name": "f", "input": {"x": 1}},
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "tool_use", "id": "c2", "name": "g", "input": {}},
        {"type": "thinking", "thinking": "never signed"},
        {"type": "server_tool_use", "id": "s1", "name": "web"},
    ]
    body = json.dumps({"content": blocks, "stop_reason": "pause_turn"}).encode()
    reply = read_document(anthropic.FORM, body)
    assert reply.opaque is not None
    assert reply.opaque["anthropic"] == [
        {"at": 1, "block": {"type": "redacted_thinking", "data": "sealed"}},
        {"at": 2, "block": {"type": "thinking", "signature": "s", "thinking": "hm"}},
    ]
    assert [call.arguments for call in reply.calls] == ['{"x":1}', ""]
    assert reply.finish == "tool_calls"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
        ("pause_turn", "other"),
    ],
)
def test_reasons_of_anthropic_to_stop(said: str, meant: str) -> None:
    body = {**message_whole(Turn(text="a")), "stop_reason": said}
    assert read_document(anthropic.FORM, json.dumps(body).encode()).finish == meant


def test_tokens_of_anthropic_are_counted_together() -> None:
    used = {"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20}
    text = _stream(
        {"type": "message_start", "message": {"usage": {**used, "output_tokens": 1}}},
        {"type": "content_block_delta", "index": 4, "delta": {"text": "lost block"}},
        {"type": "content_block_stop", "index": 4},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 9},
        },
        {"type": "something_new"},
        {"type": "message_stop"},
    )
    reply = read_whole(anthropic.FORM, b"data:\n\n" + text)
    assert reply.usage == ModelUsage(
        input_tokens=125, output_tokens=9, cached_tokens=100, cache_write_tokens=20
    )
    assert reply.text == "lost block"


def test_arguments_that_come_with_the_beginning_of_a_call_count() -> None:
    head = {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}
    text = _stream(
        {"type": "content_block_start", "index": 0, "content_block": head},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    )
    assert read_whole(anthropic.FORM, text).calls == (AskedCall("c1", "f", '{"a":1}'),)


def test_a_message_that_says_why_it_stops_but_not_that_it_stops_is_no_reply() -> None:
    text = _stream({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})
    with pytest.raises(ModelError, match="nothing of it counts"):
        read_whole(anthropic.FORM, text)


@pytest.mark.parametrize(
    ("kind", "trouble"),
    [
        ("overloaded_error", "overloaded"),
        ("rate_limit_error", "rate_limited"),
        ("authentication_error", "authentication"),
        ("permission_error", "authentication"),
        ("invalid_request_error", "bad_request"),
        ("not_found_error", "bad_request"),
        ("request_too_large", "context_length"),
        ("timeout_error", "timeout"),
        ("api_error", "server_error"),
    ],
)
def test_errors_of_anthropic_inside_of_a_reply(kind: str, trouble: str) -> None:
    error = {"type": "error", "error": {"type": kind, "message": "m"}}
    with pytest.raises(ModelError) as caught:
        read_whole(anthropic.FORM, _stream(error))
    assert caught.value.trouble == trouble
    with pytest.raises(ModelError) as caught:
        read_document(anthropic.FORM, json.dumps(error).encode())
    assert caught.value.trouble == trouble


def test_a_response_without_its_items_at_the_end_is_made_of_those_before() -> None:
    item = {"type": "function_call", "id": "fc", "call_id": "c1", "name": "f", "arguments": "{}"}
    heard: list[ModelDelta] = []
    text = _stream(
        {"type": "response.function_call_arguments.delta", "item_id": "unknown", "delta": "x"},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.reasoning_text.delta", "delta": "hm"},
        {"type": "response.new_thing"},
        {"type": "response.completed", "response": {"status": "completed", "usage": None}},
    )
    reply = read_whole(openai_responses.FORM, text + b"data: [DONE]\n\n", heard.append)
    assert reply.calls == (AskedCall("c1", "f", "{}"),)
    assert reply.reasoning == "hm"
    assert CallDelta(index=0, id="c1", name="f", arguments="{}") in heard


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("max_output_tokens", "length"), ("content_filter", "content_filter"), (None, "other")],
)
def test_an_incomplete_response_says_why(reason: str | None, finish: str) -> None:
    cut = {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{"}
    body: dict[str, Any] = {**response_whole(Turn(text="a")), "status": "incomplete"}
    body["incomplete_details"] = {"reason": reason}
    body["output"].append(cut)
    reply = read_document(openai_responses.FORM, json.dumps(body).encode())
    assert (reply.text, reply.finish, reply.calls) == ("a", finish, ())


def test_a_refusal_of_a_response_is_what_it_says() -> None:
    body = response_whole(Turn(text="a"))
    body["output"][0]["content"] = [{"type": "refusal", "refusal": "No."}]
    assert read_document(openai_responses.FORM, json.dumps(body).encode()).text == "No."


def test_a_failed_response_is_its_error() -> None:
    error = {"code": "rate_limit_exceeded", "message": "slow down"}
    failed = {"status": "failed", "error": error}
    text = _stream({"type": "response.failed", "response": failed})
    with pytest.raises(ModelError, match="slow down") as caught:
        read_whole(openai_responses.FORM, text)
    assert caught.value.trouble == "rate_limited"


def test_a_response_that_is_still_at_work_is_no_reply() -> None:
    with pytest.raises(ModelError, match="'queued'"):
        read_document(openai_responses.FORM, b'{"status": "queued"}')


def test_an_error_event_may_have_its_words_outside() -> None:
    text = _stream({"type": "error", "code": "server_error", "message": "sorry"})
    with pytest.raises(ModelError, match="sorry") as caught:
        read_whole(openai_responses.FORM, text)
    assert caught.value.trouble == "server_error"
