"""What a reply says about itself: which calls it was cut inside of, and what it cost."""

import json
from typing import Any

import msgspec
import pytest
from agent.models.streams import read_document, read_whole
from model_server import chat_events, message_events, response_events, turn_server
from raw_http import LAST, STREAM, chunked, raw_server, whole

from holdfast.agent.models import anthropic, openai_chat, openai_responses
from holdfast.agent.models.form import Form
from holdfast.agent.models.http_model import HttpModel
from holdfast.agent.models.recorded import RecordedModel
from holdfast.agent.models.scripted import ScriptedCall, ScriptedModel, Turn, script_in
from holdfast.agent.models.setup import ModelSetup, Prices
from holdfast.agent.requests import request_hash
from holdfast.contract.chunks import UserChunk
from holdfast.contract.model import ModelError, ModelReply, ModelRequest, ModelUsage
from holdfast.contract.tokens import tokens_of

pytestmark = pytest.mark.anyio

REQUEST = ModelRequest(rows=(UserChunk("Hello"),))
FORMS: dict[str, tuple[Form, Any]] = {
    "chat": (openai_chat.FORM, chat_events),
    "responses": (openai_responses.FORM, response_events),
    "messages": (anthropic.FORM, message_events),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_call_that_was_cut_is_named(name: str) -> None:
    form, events = FORMS[name]
    turn = Turn(
        text="I write.",
        calls=(
            ScriptedCall(name="read", arguments="", id="a"),
            ScriptedCall(name="write", arguments='{"text": "aaa', id="b"),
        ),
        finish="length",
    )
    reply = read_whole(form, "".join(events(turn)).encode())
    assert ([call.name for call in reply.calls], reply.cut_calls) == (["read"], ("write",))
    assert reply.finish == "length"


@pytest.mark.parametrize("name", FORMS)
def test_a_reply_that_was_not_cut_names_none(name: str) -> None:
    form, events = FORMS[name]
    turn = Turn(calls=(ScriptedCall(name="write", arguments='{"text": "aaa', id="b"),))
    reply = read_whole(form, "".join(events(turn)).encode())
    assert (len(reply.calls), reply.cut_calls) == (1, ())


def test_all_calls_that_were_open_when_it_was_cut_are_named() -> None:
    calls = [
        {"index": 0, "function": {"name": "f", "arguments": '{"a": "'}},
        {"index": 1, "function": {"name": "broken", "arguments": '{"a": oops}'}},
        {"index": 2, "function": {"name": "g", "arguments": '{"a": '}},
    ]
    message = {"tool_calls": calls}
    body = {"choices": [{"message": message, "finish_reason": "length"}]}
    reply = read_document(openai_chat.FORM, json.dumps(body).encode())
    assert [call.name for call in reply.calls] == ["broken"]
    assert reply.cut_calls == ("f", "g")


async def test_a_script_and_a_recording_may_have_calls_that_were_cut() -> None:
    text = '[[turn]]\ntext = "I write."\nfinish = "length"\ncut_calls = ["write"]'
    reply = await ScriptedModel(script_in(text, "turns.toml")).complete(REQUEST)
    assert (reply.text, reply.finish, reply.cut_calls) == ("I write.", "length", ("write",))
    recorded = RecordedModel([(request_hash(REQUEST, "m"), reply)], name="m")
    assert (await recorded.complete(REQUEST)).cut_calls == ("write",)


def test_what_was_kept_of_replies_before_still_loads() -> None:
    reply = msgspec.json.decode(b'{"text": "a", "usage": {"input_tokens": 1}}', type=ModelReply)
    assert (reply.cut_calls, reply.usage.estimated) == ((), False)
    assert msgspec.json.encode(reply) == b'{"text":"a","usage":{"input_tokens":1}}'


UNCOUNTED: dict[str, Any] = {
    "chat": {"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]},
    "responses": {
        "status": "completed",
        "output": [{"type": "message", "content": [{"text": "Hello"}]}],
    },
    "messages": {"content": [{"type": "text", "text": "Hello"}], "stop_reason": "end_turn"},
}


@pytest.mark.parametrize("usage", [{}, {"usage": None}, {"usage": {"input_tokens": 0}}])
@pytest.mark.parametrize("name", FORMS)
async def test_what_a_provider_does_not_count_is_estimated(
    name: str, usage: dict[str, Any]
) -> None:
    answer = whole(json.dumps({**UNCOUNTED[name], **usage}).encode())
    async with raw_server([answer]) as (server, url):
        setup = ModelSetup(model="m", url=url, prices=Prices(input=1, output=10))
        model = HttpModel(setup, FORMS[name][0])
        reply = await model.complete(REQUEST)
        await model.close()
    read = tokens_of(server.asked[0])
    assert reply.usage == ModelUsage(
        input_tokens=read, output_tokens=2, cost_micros=read + 20, estimated=True
    )


@pytest.mark.parametrize("name", FORMS)
async def test_what_a_provider_counts_is_not_estimated(name: str) -> None:
    usage = ModelUsage(input_tokens=9, output_tokens=5, cached_tokens=2)
    async with turn_server([Turn(text="a", usage=usage)]) as (_, url):
        model = HttpModel(ModelSetup(model="m", url=url), FORMS[name][0])
        assert (await model.complete(REQUEST)).usage == usage
        await model.close()


ODD: dict[str, dict[str, Any]] = {
    "responses": {"input_tokens": -5, "output_tokens": 10**40, "input_tokens_details": 7},
    "messages": {"input_tokens": -5, "output_tokens": 1e99, "cache_read_input_tokens": None},
}


@pytest.mark.parametrize("name", ODD)
def test_odd_counts_can_be_added_up(name: str) -> None:
    body = json.dumps({**UNCOUNTED[name], "usage": ODD[name]}).encode()
    assert read_document(FORMS[name][0], body).usage == ModelUsage(output_tokens=2**53)


def test_no_cost_is_without_end() -> None:
    usage = ModelUsage(input_tokens=2**53, output_tokens=2**53)
    assert Prices(input=1e9, output=1e9).micros(usage) == 2**53


REFUSED = json.dumps(
    {
        "error": {
            "message": "Encrypted content is not supported with this model.",
            "param": "include",
        }
    }
).encode()


def _stream(turn: Turn) -> list[bytes]:
    return [STREAM + chunked("".join(response_events(turn)).encode()) + LAST]


async def test_a_model_that_does_not_reason_is_not_asked_for_sealed_reasoning_again() -> None:
    refusal = [whole(REFUSED, "400 Bad Request")]
    async with raw_server(refusal, _stream(Turn(text="a")), _stream(Turn(text="b"))) as (
        server,
        url,
    ):
        model = HttpModel(ModelSetup(model="m", url=url), openai_responses.FORM)
        assert (await model.complete(REQUEST)).text == "a"
        assert (await model.complete(REQUEST)).text == "b"
        await model.close()
    assert ["include" in json.loads(body) for body in server.asked] == [True, False, False]


@pytest.mark.parametrize(
    ("form", "told", "extra"),
    [
        (openai_responses.FORM, b'{"error": {"message": "no such model"}}', {}),
        (openai_responses.FORM, REFUSED, {"include": ["reasoning.encrypted_content"]}),
        (openai_chat.FORM, REFUSED, {}),
    ],
)
async def test_any_other_refusal_is_one(form: Form, told: bytes, extra: Any) -> None:
    refusal = [whole(told, "400 Bad Request")]
    async with raw_server(refusal, refusal) as (server, url):
        model = HttpModel(ModelSetup(model="m", url=url, extra=extra), form)
        with pytest.raises(ModelError) as caught:
            await model.complete(REQUEST)
        await model.close()
    assert (caught.value.trouble, len(server.asked)) == ("bad_request", 1)


async def test_a_second_refusal_is_not_answered_with_a_third_question() -> None:
    refusal = [whole(REFUSED, "400 Bad Request")]
    async with raw_server(refusal, refusal, refusal) as (server, url):
        model = HttpModel(ModelSetup(model="m", url=url), openai_responses.FORM)
        with pytest.raises(ModelError, match="Encrypted content"):
            await model.complete(REQUEST)
        await model.close()
    assert len(server.asked) == 2
