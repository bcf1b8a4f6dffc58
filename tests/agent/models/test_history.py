"""What goes back of a model's own calls and thoughts: to whom, and so that nobody refuses it."""

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent.models import anthropic, openai_chat, openai_responses
from holdfast.agent.models.form import Form, Surrounding
from holdfast.agent.models.http_model import HttpModel
from holdfast.agent.models.setup import ModelSetup
from holdfast.contract.chunks import AskedCall, AssistantChunk, ToolResultChunk, UserChunk
from holdfast.contract.json_value import decode_json, encode_json
from holdfast.contract.model import ModelReply, ModelRequest, ModelTool

FORMS = {
    "chat": openai_chat.FORM,
    "responses": openai_responses.FORM,
    "messages": anthropic.FORM,
}
HERE = "http://127.0.0.1:9/v1"


def _body(form: Form, request: ModelRequest, url: str = HERE) -> dict[str, Any]:
    return json.loads(HttpModel(ModelSetup(model="m", url=url), form).body(request))


def _sent(form: Form, *calls: AskedCall, tools: tuple[ModelTool, ...] = ()) -> list[Any]:
    """Name and arguments of each call, as a server that reads its history finds them."""
    request = ModelRequest(rows=(UserChunk("x"), AssistantChunk(None, calls)), tools=tools)
    body = _body(form, request)
    if form is openai_responses.FORM:
        items = [one for one in body["input"] if one.get("type") == "function_call"]
        return [(one["name"], json.loads(one["arguments"])) for one in items]
    last = body["messages"][-1]
    if form is anthropic.FORM:
        return [(one["name"], one["input"]) for one in last["content"]]
    functions = [one["function"] for one in last["tool_calls"]]
    return [(one["name"], json.loads(one["arguments"])) for one in functions]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("", {}),
        (" \n", {}),
        ("{}", {}),
        ('{"a": 1}', {"a": 1}),
        ('{"a": oops', {"malformed_arguments": '{"a": oops'}),
        ("[1]", {"malformed_arguments": "[1]"}),
        ("null", {"malformed_arguments": "null"}),
        ('{"a": 1}{"b": 2}', {"malformed_arguments": '{"a": 1}{"b": 2}'}),
        (
            '{"a":' * 500 + "1" + "}" * 500,
            {"malformed_arguments": '{"a":' * 500 + "1" + "}" * 500},
        ),
    ],
)
def test_arguments_go_back_as_an_object(form: Form, written: str, sent: Any) -> None:
    assert _sent(form, AskedCall("c", "f", written)) == [("f", sent)]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("", "unnamed"),
        ("read_file", "read_file"),
        ("read.file\n", "read_file_"),
        ("größe", "gr__e"),
        ("x" * 300, "x" * 64),
    ],
)
def test_names_go_back_with_signs_that_are_taken(form: Form, name: str, sent: str) -> None:
    assert _sent(form, AskedCall("c", name, "{}")) == [(sent, {})]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_name_that_is_offered_is_the_same_everywhere(form: Form) -> None:
    tool = ModelTool(name="read.file", description=None, schema={"type": "object"})
    assert _sent(form, AskedCall("c", "read.file", "{}"), tools=(tool,)) == [("read.file", {})]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@given(name=st.text(max_size=80), arguments=st.text(max_size=20))
def test_any_call_goes_back_so_that_it_can_be_read(form: Form, name: str, arguments: str) -> None:
    call = AskedCall("c", name, arguments)
    ((sent, given_arguments),) = _sent(form, call)
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", sent)
    assert isinstance(given_arguments, dict)
    assert _sent(form, call) == [(sent, given_arguments)]


def _thought(origin: str = "127.0.0.1:9", **more: Any) -> ModelReply:
    extra = {"google": {"thought_signature": "SIG", "at": 1}}
    message = {
        "reasoning_content": "I should read",
        "tool_calls": [
            {"id": "c1", "function": {"name": "f", "arguments": "{}"}},
            {"id": "c2", "extra_content": extra, "function": {"name": "g", "arguments": "{}"}},
        ],
        **more,
    }
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    reading = openai_chat.FORM.reading(Surrounding(lambda: "new", origin=origin))
    reading.whole(json.dumps(body).encode())
    return reading.reply()


def _row(reply: ModelReply) -> AssistantChunk:
    opaque = msgspec.UNSET if reply.opaque is None else reply.opaque
    return AssistantChunk(reply.text, reply.calls, opaque)


def _request(row: AssistantChunk) -> ModelRequest:
    return ModelRequest(rows=(UserChunk("x"), row, ToolResultChunk("c1", "f", "ok")))


def test_thoughts_and_signatures_go_back_to_the_server_they_are_from() -> None:
    sent = _body(openai_chat.FORM, _request(_row(_thought())))["messages"][1]
    assert sent["reasoning_content"] == "I should read"
    assert "extra_content" not in sent["tool_calls"][0]
    assert sent["tool_calls"][1]["extra_content"] == {
        "google": {"thought_signature": "SIG", "at": 1}
    }


@pytest.mark.parametrize("url", ["http://127.0.0.1:8/v1", "https://api.openai.com/v1"])
def test_thoughts_and_signatures_go_to_nobody_else(url: str) -> None:
    sent = _body(openai_chat.FORM, _request(_row(_thought())), url)["messages"][1]
    assert set(sent) == {"role", "content", "tool_calls"}
    assert set(sent["tool_calls"][1]) == {"id", "type", "function"}
    for form in (openai_responses.FORM, anthropic.FORM):
        assert "SIG" not in json.dumps(_body(form, _request(_row(_thought()))))


def test_thoughts_that_were_kept_go_back_as_the_same_bytes() -> None:
    fresh = _row(_thought())
    assert fresh.opaque is not msgspec.UNSET
    kept = msgspec.structs.replace(fresh, opaque=decode_json(encode_json(fresh.opaque)))
    model = HttpModel(ModelSetup(model="m", url=HERE), openai_chat.FORM)
    assert model.body(_request(kept)) == model.body(_request(fresh))


def test_thoughts_that_are_empty_are_some() -> None:
    """A server that thinks wants the field back also where it thought nothing."""
    sent = _body(openai_chat.FORM, _request(_row(_thought(reasoning_content=""))))["messages"][1]
    assert sent["reasoning_content"] == ""


def test_who_shows_no_thoughts_is_told_none() -> None:
    body = b'{"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}'
    reading = openai_chat.FORM.reading(Surrounding(lambda: "new", origin="127.0.0.1:9"))
    reading.whole(body)
    assert reading.reply().opaque is None


@pytest.mark.parametrize("calls", [5, [5, {"at": 7, "extra_content": {}}, {"at": "0"}]])
def test_what_is_kept_and_odd_does_no_harm(calls: Any) -> None:
    opaque: Any = {"openai_chat": {"origin": "127.0.0.1:9", "calls": calls}}
    row = AssistantChunk(None, (AskedCall("c1", "f", "{}"),), opaque)
    sent = _body(openai_chat.FORM, _request(row))["messages"][1]
    assert set(sent["tool_calls"][0]) == {"id", "type", "function"}


def test_much_that_is_kept_is_woven_in_once() -> None:
    blocks: Any = [{"at": at, "block": {"type": "reasoning", "n": at}} for at in range(3000)]
    calls = tuple(AskedCall(f"c{n}", "f", "{}") for n in range(2000))
    row = AssistantChunk(None, calls, {"openai_responses": blocks})
    items = _body(openai_responses.FORM, ModelRequest(rows=(row,)))["input"]
    assert [one["type"] for one in items[:4]] == ["reasoning", "function_call"] * 2
    assert [one["type"] for one in items[4000:]] == ["reasoning"] * 1000
