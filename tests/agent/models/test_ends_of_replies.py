"""A reply that is complete counts, however its connection ends; and none is waited for for ever."""

import json
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from agent.models.streams import STREAMS
from raw_http import LAST, STREAM, Again, Piece, chunked, raw_server

from holdfast.agent.models import openai_chat
from holdfast.agent.models.form import Form
from holdfast.agent.models.http_model import HttpModel
from holdfast.agent.models.setup import ModelSetup, Patience
from holdfast.contract.chunks import UserChunk
from holdfast.contract.model import ModelError, ModelReply, ModelRequest, ModelUsage

pytestmark = pytest.mark.anyio

REQUEST = ModelRequest(rows=(UserChunk("Hello"),))
SHORT = Patience(idle=0.3)
"""For what comes behind a beginning; whoever begins has all the time."""
USUAL = Patience()


def _event(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


WORDS = _event({"choices": [{"delta": {"content": "hi"}}]})
FINISH = _event({"choices": [{"finish_reason": "stop"}]})
USAGE = _event({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}})
DONE = b"data: [DONE]\n\n"
SIGNS = {
    "comment": b": alive\n\n",
    "no data": b"data:\n\n",
    "name": b"event: ping\n\n",
    "line": b"\n",
}
DOCUMENT = json.dumps(
    {
        "choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    }
).encode()


async def _ended(
    answer: Sequence[Piece],
    form: Form = openai_chat.FORM,
    patience: Patience = USUAL,
    most_bytes: int = 1 << 26,
) -> ModelReply | ModelError:
    async with raw_server(answer) as (_, url):
        setup = ModelSetup(model="m", url=url, patience=patience, most_bytes=most_bytes)
        model = HttpModel(setup, form)
        try:
            with anyio.fail_after(15):
                return await model.complete(REQUEST)
        except ModelError as problem:
            return problem
        finally:
            await model.close()


async def _asked(
    answer: Sequence[Piece],
    form: Form = openai_chat.FORM,
    patience: Patience = USUAL,
    most_bytes: int = 1 << 26,
) -> ModelReply:
    found = await _ended(answer, form, patience, most_bytes)
    assert isinstance(found, ModelReply), found
    return found


async def _trouble(answer: Sequence[Piece], patience: Patience = USUAL) -> ModelError:
    found = await _ended(answer, patience=patience)
    assert isinstance(found, ModelError), found
    return found


@pytest.mark.parametrize("name", STREAMS)
async def test_a_connection_that_breaks_behind_a_complete_reply_takes_nothing_of_it(
    name: str,
) -> None:
    form, text = STREAMS[name]
    reply = await _asked([STREAM + chunked(text)], form)
    assert (reply.text, reply.usage.input_tokens) == ("Grüße \U0001f600", 9)


@pytest.mark.parametrize("name", STREAMS)
async def test_whatever_follows_a_complete_reply_is_too_late(name: str) -> None:
    form, text = STREAMS[name]
    answer = [STREAM + chunked(text), Again(chunked(b": more\n\n" * 10_000))]
    assert (await _asked(answer, form, most_bytes=len(text) + 1_000)).text == "Grüße \U0001f600"


async def test_a_reply_that_says_why_it_stops_is_one_also_where_nobody_says_that_it_ends() -> None:
    reply = await _asked([STREAM + chunked(WORDS + FINISH + USAGE), None], patience=SHORT)
    assert (reply.text, reply.usage) == ("hi", ModelUsage(input_tokens=5, output_tokens=2))


async def test_what_it_cost_is_waited_for_a_little() -> None:
    answer = [STREAM + chunked(WORDS + FINISH), chunked(USAGE), LAST]
    assert (await _asked(answer)).usage.input_tokens == 5


async def test_signs_of_life_behind_the_reason_to_stop_do_not_keep_a_reply_open() -> None:
    answer = [STREAM + chunked(WORDS + FINISH), Again(chunked(b": alive\n\n"))]
    assert (await _asked(answer, patience=SHORT)).text == "hi"


async def test_more_than_a_reply_may_have_behind_its_reason_to_stop_is_left() -> None:
    answer = [STREAM + chunked(WORDS + FINISH), Again(chunked(b": alive\n\n" * 1_000))]
    assert (await _asked(answer, most_bytes=50_000)).text == "hi"


async def test_a_connection_that_breaks_behind_the_reason_to_stop_takes_only_what_it_cost() -> None:
    reply = await _asked([STREAM + chunked(WORDS + FINISH)])
    assert (reply.text, reply.usage.estimated) == ("hi", True)


async def test_a_connection_that_breaks_inside_of_an_event_is_no_end() -> None:
    problem = await _trouble([STREAM + chunked(WORDS + FINISH + USAGE[:20])])
    assert problem.trouble == "connection"


@pytest.mark.parametrize("rest", [(), (None,)], ids=["breaks", "hangs"])
async def test_a_whole_document_is_a_reply_however_its_connection_ends(
    rest: tuple[None, ...],
) -> None:
    reply = await _asked([STREAM + chunked(DOCUMENT), *rest], patience=SHORT if rest else USUAL)
    assert (reply.text, reply.usage.input_tokens) == ("hi", 5)


@pytest.mark.parametrize("rest", [(), (None,)], ids=["breaks", "hangs"])
async def test_half_a_document_is_none(rest: tuple[None, ...]) -> None:
    answer = [STREAM + chunked(DOCUMENT[:-5]), *rest]
    problem = await _trouble(answer, SHORT if rest else USUAL)
    assert problem.trouble == ("timeout" if rest else "connection")


@pytest.mark.parametrize(
    ("before", "setting"),
    [(b"", "first_byte_seconds"), (WORDS, "idle_seconds")],
    ids=["first", "next"],
)
@pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS)
async def test_signs_of_life_are_no_reply(before: bytes, setting: str, sign: bytes) -> None:
    first = [chunked(before)] if before else []
    patience = SHORT if first else Patience(first_byte=0.3)
    problem = await _trouble([STREAM, *first, Again(chunked(sign))], patience)
    assert problem.trouble == "timeout"
    assert setting in str(problem)


async def test_a_line_that_never_ends_is_no_reply() -> None:
    answer = [STREAM + chunked(b"data: "), Again(chunked(b"x"))]
    problem = await _trouble(answer, Patience(first_byte=0.3))
    assert "first_byte_seconds" in str(problem)


@pytest.mark.parametrize("first", [WORDS, b'{"choices": ['], ids=["stream", "document"])
async def test_a_reply_as_a_whole_has_a_limit(first: bytes) -> None:
    more = WORDS if first is WORDS else b"{}, "
    answer = [STREAM + chunked(first), Again(chunked(more))]
    problem = await _trouble(answer, Patience(whole=0.4))
    assert (problem.trouble, problem.retryable) == ("timeout", True)
    assert "within 0.4 s; raise reply_seconds" in str(problem)


async def test_a_document_may_be_no_longer_than_a_few_megabytes() -> None:
    long = b'{"choices": "' + b"x" * (8 * 1024 * 1024)
    problem = await _trouble([STREAM + chunked(long) + LAST])
    assert "more than 8,388,608 bytes" in str(problem)
