"""Vectors of texts from a server that speaks OpenAI's form: what is sent, and what comes."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from loopback_site import serving
from raw_http import LAST, STREAM, Piece, chunked, raw_server, whole

from holdfast.agent.models.embeddings import OpenAiEmbedder
from holdfast.agent.models.setup import ModelSetup, Patience
from holdfast.contract.vectors import VectorsUnavailable
from holdfast.testing.vectors_kit import FakeEmbedder

pytestmark = pytest.mark.anyio

KEY = "sk-secret-key-0123456789"


@asynccontextmanager
async def embedding_server() -> AsyncGenerator[tuple[list[dict[str, Any]], str]]:
    """What it was asked, with the headers; and the URL where its API begins."""
    words, asked = FakeEmbedder(), list[dict[str, Any]]()

    async def answer(request: web.Request) -> web.Response:
        said = await request.json()
        asked.append({**said, "key": request.headers.get("Authorization")})
        vectors = [
            {"object": "embedding", "index": at, "embedding": words.vector(text)}
            for at, text in enumerate(said["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return web.json_response({"object": "list", "data": vectors[::-1], "usage": usage})

    app = web.Application()
    app.router.add_post("/v1/embeddings", answer)
    async with serving(app) as site:
        yield asked, f"{site}/v1"


def _embedder(url: str, **more: Any) -> OpenAiEmbedder:
    patience = Patience(first_byte=0.3, idle=0.3)
    return OpenAiEmbedder(ModelSetup(model="small", url=url, key=KEY, patience=patience, **more))


async def test_texts_become_vectors_in_their_order() -> None:
    async with embedding_server() as (asked, url):
        made = _embedder(url, extra={"dimensions": 256})
        first = await made.embed(["one", "two", "ünï \U0001f600"])
        await made.close()
        again = await made.embed(["two"])
        await made.close()
    words = FakeEmbedder()
    assert [list(one) for one in first] == [
        words.vector(one) for one in ("one", "two", "ünï \U0001f600")
    ]
    assert [list(one) for one in again] == [words.vector("two")]
    assert asked[0] == {
        "model": "small",
        "input": ["one", "two", "ünï \U0001f600"],
        "encoding_format": "float",
        "dimensions": 256,
        "key": f"Bearer {KEY}",
    }
    assert made.name.startswith("small at 127.0.0.1:")


def _said(*indices: int) -> bytes:
    data = [{"index": one, "embedding": [1.0, 0]} for one in indices]
    return json.dumps({"data": data}).encode()


REFUSED = json.dumps({"error": {"message": f"no such key {KEY}"}}).encode()


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ([whole(_said(0))], "sent 1 vectors for 2 texts"),
        ([whole(_said(0, 0))], "sent 2 vectors for 2 texts"),
        ([whole(_said(0, 2))], "sent 2 vectors for 2 texts"),
        ([whole(b'{"data": [{"index": 0, "embedding": "AAAA"}]}')], "cannot be read"),
        ([whole(b'{"choices": []}')], "cannot be read"),
        ([whole(b"<html>")], "a page"),
        ([STREAM, chunked(b"data: {}\n\n"), LAST], "a stream instead of vectors"),
        ([whole(REFUSED, "401 Unauthorized")], "answered 401"),
        ([whole(_said(0, 1))[:-5]], "closed the connection"),
        ([None], "said nothing within"),
    ],
)
async def test_what_is_no_answer_is_told_without_the_key(answer: list[Piece], told: str) -> None:
    async with raw_server(answer) as (_, url):
        made = _embedder(url)
        with pytest.raises(VectorsUnavailable, match=told) as caught:
            await made.embed(["one", "two"])
        await made.close()
    assert KEY not in str(caught.value)
    assert str(caught.value).startswith("small at ")


async def test_nobody_there_is_told() -> None:
    made = _embedder("http://127.0.0.1:9/v1")
    with pytest.raises(VectorsUnavailable, match="cannot be reached"):
        await made.embed(["one"])
    await made.close()
