"""Servers that hang, break off, lie or refuse: each is a ModelError, and nothing half counts."""

import gzip
import json
from collections.abc import Sequence

import aiohttp
import anyio
import pytest
from aiohttp.client_reqrep import ConnectionKey
from model_server import chat_events, message_events, response_events
from raw_http import LAST, STREAM, UNTIL_CLOSED, Piece, chunked, raw_server, whole
from yarl import URL

from holdfast.agent.models import anthropic, exchange, openai_chat, openai_responses
from holdfast.agent.models.exchange import unreached
from holdfast.agent.models.form import Form
from holdfast.agent.models.http_model import HttpModel
from holdfast.agent.models.scripted import ScriptedCall, Turn
from holdfast.agent.models.setup import ModelSetup, Patience
from holdfast.contract.chunks import UserChunk
from holdfast.contract.model import ModelDelta, ModelError, ModelReply, ModelRequest

pytestmark = pytest.mark.anyio

KEY = "sk-secret-key-0123456789"
SHORT = Patience(first_byte=0.3, idle=0.3)
USUAL = Patience()
WHERE = ConnectionKey(
    "api.example", 443, is_ssl=True, ssl=True, proxy=None, proxy_auth=None, proxy_headers_hash=None
)
REQUEST = ModelRequest(rows=(UserChunk("Hello"),))
TURN = Turn(text="hi", calls=(ScriptedCall(name="f", arguments='{"a": 1}', id="c1"),))
STREAMS: dict[str, tuple[Form, bytes]] = {
    "chat": (openai_chat.FORM, "".join(chat_events(TURN)).encode()),
    "responses": (openai_responses.FORM, "".join(response_events(TURN)).encode()),
    "messages": (anthropic.FORM, "".join(message_events(TURN)).encode()),
}
CHAT = STREAMS["chat"][1]


def _model(
    url: str,
    form: Form = openai_chat.FORM,
    patience: Patience = USUAL,
    most_bytes: int = 1 << 26,
) -> HttpModel:
    setup = ModelSetup(model="m", url=url, key=KEY, patience=patience, most_bytes=most_bytes)
    return HttpModel(setup, form)


async def _asked(url: str, form: Form = openai_chat.FORM, patience: Patience = USUAL) -> ModelReply:
    model = _model(url, form, patience)
    try:
        return await model.complete(REQUEST)
    finally:
        await model.close()


async def _trouble(answer: Sequence[Piece], form: Form = openai_chat.FORM) -> ModelError:
    # Only silence is waited for; whoever says something or closes has all the time.
    patience = SHORT if None in answer else USUAL
    async with raw_server(answer) as (_, url):
        with pytest.raises(ModelError) as caught:
            await _asked(url, form, patience)
    assert KEY not in str(caught.value)
    return caught.value


async def test_silence_before_the_first_byte_is_a_timeout() -> None:
    problem = await _trouble([None])
    assert (problem.trouble, problem.retryable) == ("timeout", True)
    assert "first_byte_seconds" in str(problem)


async def test_silence_after_the_headers_is_a_timeout_too() -> None:
    problem = await _trouble([STREAM, None])
    assert problem.trouble == "timeout"
    assert "first_byte_seconds" in str(problem)


@pytest.mark.parametrize("name", STREAMS)
async def test_silence_inside_of_a_reply_is_a_timeout(name: str) -> None:
    form, text = STREAMS[name]
    problem = await _trouble([STREAM + chunked(text[: len(text) // 2]), None], form)
    assert problem.trouble == "timeout"
    assert "idle_seconds" in str(problem)


@pytest.mark.parametrize("name", STREAMS)
async def test_a_connection_that_breaks_inside_of_a_reply_is_no_reply(name: str) -> None:
    form, text = STREAMS[name]
    problem = await _trouble([STREAM + chunked(text[: len(text) - 100])], form)
    assert (problem.trouble, problem.retryable) == ("connection", True)


@pytest.mark.parametrize("name", STREAMS)
async def test_a_stream_that_ends_early_without_a_word_is_no_reply(name: str) -> None:
    form, text = STREAMS[name]
    events = text.split(b"\n\n")
    half = b"\n\n".join(events[: len(events) // 2]) + b"\n\n"
    problem = await _trouble([UNTIL_CLOSED + half], form)
    assert problem.trouble == "malformed"
    assert "nothing of it counts" in str(problem)


@pytest.mark.parametrize("name", STREAMS)
async def test_a_server_that_stays_open_after_its_last_word_is_not_waited_for(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "_LAST_SECONDS", 0.05)
    form, text = STREAMS[name]
    async with raw_server([STREAM + chunked(text), None]) as (_, url):
        with anyio.fail_after(5):
            reply = await _asked(url, form)
    assert reply.text == "hi"
    assert [call.arguments for call in reply.calls] == ['{"a": 1}']


@pytest.mark.parametrize(
    "body",
    [
        b"data: {not json\n\n",
        b"data: \xff\xfe\n\n",
        b'data: {"choices": [{"delta": {"content": "\xff"}}]}\n\n',
        b'data: {"choices": [{"delta": {"content": 5}}]}\n\n',
        b'data: {"choices": "none"}\n\n',
        b"data: [1, 2]\n\n",
        b"data: " + b"[" * 100_000 + b"\n\n",
        b"garbage without any form\n\n",
        b"\x00\x01\x02",
        b"",
        b"   \n",
        b'{"choices": []}',
        b'{"choices": [{"message": {"content": "no reason to stop"}}]}',
    ],
)
async def test_garbage_is_malformed(body: bytes) -> None:
    assert (await _trouble([UNTIL_CLOSED + body])).trouble == "malformed"


@pytest.mark.parametrize("name", STREAMS)
async def test_a_page_instead_of_a_reply_is_told_as_one(name: str) -> None:
    page = whole(b"\n <!doctype html><p>Welcome</p>", "200 OK", "text/html")
    problem = await _trouble([page], STREAMS[name][0])
    assert problem.trouble == "malformed"
    assert "page" in str(problem)
    assert "base_url" in str(problem)


async def test_what_is_no_http_is_malformed() -> None:
    assert (await _trouble([b"SSH-2.0-OpenSSH_9.6\r\n\r\n"])).trouble == "malformed"


@pytest.mark.parametrize("name", STREAMS)
async def test_a_stream_under_another_content_type_is_read_all_the_same(name: str) -> None:
    form, text = STREAMS[name]
    async with raw_server([whole(text, "200 OK", "application/octet-stream")]) as (_, url):
        reply = await _asked(url, form)
    assert (reply.text, reply.finish) == ("hi", "tool_calls")


@pytest.mark.parametrize("name", STREAMS)
async def test_a_stream_that_is_packed_is_unpacked(name: str) -> None:
    form, text = STREAMS[name]
    packed = whole(gzip.compress(text), "200 OK", "text/event-stream", "Content-Encoding: gzip")
    async with raw_server([packed]) as (_, url):
        assert (await _asked(url, form)).text == "hi"


async def test_a_broken_packing_is_no_reply() -> None:
    packed = whole(b"no gzip at all", "200 OK", "text/event-stream", "Content-Encoding: gzip")
    assert (await _trouble([packed])).retryable


async def test_one_line_of_ten_megabytes_is_read() -> None:
    long = json.dumps({"choices": [{"delta": {"content": "x" * 10_000_000}}]}).encode()
    async with raw_server([UNTIL_CLOSED + b"data: " + long + b"\n\n" + CHAT]) as (_, url):
        model = _model(url)
        reply = await model.complete(REQUEST)
        await model.close()
    assert reply.text == "x" * 10_000_000 + "hi"


@pytest.mark.parametrize("packed", [False, True])
async def test_more_than_a_reply_may_have_is_not_taken(packed: bool) -> None:
    line = b"data: " + b"x" * 5_000_000
    body = gzip.compress(line) if packed else line
    more = ["Content-Encoding: gzip"] if packed else []
    answer = whole(body, "200 OK", "text/event-stream", *more)
    async with raw_server([answer]) as (_, url):
        model = _model(url, most_bytes=1_000_000)
        with pytest.raises(ModelError, match="more than 1,000,000 bytes") as caught:
            await model.complete(REQUEST)
        await model.close()
    assert caught.value.trouble == "malformed"


async def test_what_comes_behind_the_end_of_a_reply_is_not_read() -> None:
    error = b'data: {"error": {"message": "too late"}}\n\n'
    async with raw_server([STREAM + chunked(CHAT + error) + chunked(error) + LAST]) as (_, url):
        assert (await _asked(url)).text == "hi"


@pytest.mark.parametrize("rest", [(None,), ()], ids=["hangs", "closes"])
async def test_a_refusal_whose_reason_does_not_come_is_one(
    rest: tuple[None, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "_LAST_SECONDS", 0.05)
    head = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 1000\r\n\r\nwho"
    problem = await _trouble([head, *rest])
    assert (problem.trouble, problem.status) == ("authentication", 401)


async def test_a_key_that_no_header_can_hold_is_not_sent() -> None:
    async with raw_server([STREAM + chunked(CHAT) + LAST]) as (server, url):
        setup = ModelSetup(model="m", url=url, key="two\nlines")
        model = HttpModel(setup, openai_chat.FORM)
        with pytest.raises(ModelError, match="check the key and headers") as caught:
            await model.complete(REQUEST)
        await model.close()
    assert (caught.value.trouble, server.asked) == ("bad_request", [])
    assert "lines" not in repr(setup)


async def test_a_request_of_megabytes_arrives_whole() -> None:
    async with raw_server([STREAM + chunked(CHAT) + LAST]) as (server, url):
        model = _model(url)
        request = ModelRequest(rows=(UserChunk("x" * 3_000_000),))
        assert (await model.complete(request)).text == "hi"
        await model.close()
    assert server.asked == [model.body(request)]


async def test_a_failure_and_then_a_reply() -> None:
    failing = whole(b"oops", "500 Internal Server Error", "text/plain")
    async with raw_server([failing], [STREAM + chunked(CHAT) + LAST]) as (server, url):
        model = _model(url)
        with pytest.raises(ModelError, match="answered 500: oops") as caught:
            await model.complete(REQUEST)
        assert (caught.value.trouble, caught.value.status) == ("server_error", 500)
        assert (await model.complete(REQUEST)).text == "hi"
        await model.close()
    assert len(server.asked) == 2


async def test_connections_are_used_again() -> None:
    fine = [STREAM + chunked(CHAT) + LAST]
    async with raw_server(fine, fine, fine) as (server, url):
        model = _model(url)
        for _ in range(3):
            assert (await model.complete(REQUEST)).text == "hi"
        await model.close()
    assert server.connections == 1


async def test_nobody_there_says_what_to_check() -> None:
    async with raw_server() as (_, url):
        pass
    with pytest.raises(
        ModelError, match="check base_url and whether a server runs there"
    ) as caught:
        await _asked(url)
    assert caught.value.trouble == "connection"


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (aiohttp.ClientConnectorDNSError(WHERE, OSError(-2, "no name")), "there is no host"),
        (aiohttp.ClientConnectorCertificateError(WHERE, ValueError()), "certificate"),
        (aiohttp.ServerDisconnectedError(), "closed the connection"),
        (ConnectionResetError(), "closed the connection"),
    ],
)
def test_what_kept_a_request_from_its_host_says_what_to_check(
    problem: Exception, told: str
) -> None:
    error = unreached(problem, URL("https://api.example/v1"))
    assert error.trouble == "connection"
    assert told in str(error)
    assert "api.example" in str(error)


async def test_a_redirect_is_not_followed() -> None:
    away = whole(b"", "302 Found", "text/plain", f"Location: http://127.0.0.1:9/?k={KEY}")
    problem = await _trouble([away])
    assert problem.trouble == "bad_request"
    assert "correct base_url" in str(problem)


async def test_a_success_that_is_no_reply_is_malformed() -> None:
    assert (await _trouble([whole(b"", "204 No Content")])).trouble == "malformed"


@pytest.mark.parametrize("problem", [ZeroDivisionError, ValueError, OSError, EOFError])
async def test_who_listens_may_fail_and_that_is_told_as_it_is(problem: type[Exception]) -> None:
    def listen(_: ModelDelta) -> None:
        raise problem

    async with raw_server([STREAM + chunked(CHAT) + LAST]) as (_, url):
        model = _model(url)
        with pytest.raises(problem):
            await model.complete(REQUEST, listen)
        await model.close()


ERRORS: dict[str, object] = {
    "chat": {"error": {"message": f"Overloaded, {KEY}", "type": "overloaded", "code": 529}},
    "responses": {"type": "error", "error": {"type": "overloaded_error", "message": KEY}},
    "messages": {"type": "error", "error": {"type": "overloaded_error", "message": KEY}},
}


@pytest.mark.parametrize("name", STREAMS)
async def test_an_error_inside_of_a_stream_ends_it(name: str) -> None:
    form, text = STREAMS[name]
    error = b"data: " + json.dumps(ERRORS[name]).encode() + b"\n\n"
    half = text[: text.index(b"\n\n", len(text) // 2) + 2]
    problem = await _trouble([UNTIL_CLOSED + half + error + text], form)
    assert problem.trouble == "overloaded"
    assert "***" in str(problem)
