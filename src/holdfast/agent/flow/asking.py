"""Asking a model for a loop: rows and tools become a request, pieces are passed on, and failures
that may pass are tried again as those of a wake are.

Who writes down what was asked is handed in. What a reply means is not known here.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol, cast

import msgspec
from anyio import sleep

from holdfast.agent.asking import LONGEST_OBEYED, pause_before
from holdfast.agent.flow.ports import Schema
from holdfast.contract.agents import DEFAULT_RETRIES
from holdfast.contract.chunks import AskedCall, ChunkTable
from holdfast.contract.json_value import JsonObject, clean_text
from holdfast.contract.model import (
    ANY_OBJECT,
    ChatModel,
    Heard,
    ModelError,
    ModelReply,
    ModelRequest,
    ModelTool,
)


class Diary(Protocol):
    """Writes down what a model is asked, and what becomes of that."""

    async def asks(self, request: ModelRequest, model: str, /) -> str:
        """It is about to be asked; gives the name of the request."""
        ...

    async def replied(self, request_id: str, reply: ModelReply, /) -> None:
        """It replied."""
        ...

    async def failed(
        self, request_id: str, problem: ModelError, attempt: int, pause: float | None, /
    ) -> None:
        """It did not; ``pause``: the seconds after which it is asked again, None: it is not."""
        ...


class NoDiary:
    """Writes nothing down."""

    async def asks(self, _request: ModelRequest, _model: str, /) -> str:
        """Nobody asks for its name."""
        return ""

    async def replied(self, _request_id: str, _reply: ModelReply, /) -> None:
        """Nobody is told."""

    async def failed(
        self, _request_id: str, _problem: ModelError, _attempt: int, _pause: float | None, /
    ) -> None:
        """Nobody is told."""


async def asked(
    model: ChatModel,
    rows: ChunkTable,
    tools: Iterable[ModelTool],
    heard: Heard | None = None,
    diary: Diary | None = None,
) -> ModelReply:
    """One reply; ModelError where it is not worth another try."""
    book = NoDiary() if diary is None else diary
    request = ModelRequest(rows=rows.rows, tools=tuple(tools))
    attempt = 0
    while True:
        attempt += 1
        request_id = await book.asks(request, model.name)
        try:
            reply = cleaned(await model.complete(request, heard))
        except ModelError as problem:
            pause = _pause(attempt, problem)
            await book.failed(request_id, problem, attempt, pause)
            if pause is None:
                raise
            await sleep(pause)
            continue
        await book.replied(request_id, reply)
        return reply


def _pause(attempt: int, problem: ModelError) -> float | None:
    """None: it is not tried again."""
    if not problem.retryable or attempt > DEFAULT_RETRIES:
        return None
    pause = pause_before(attempt, problem)
    return pause if pause <= LONGEST_OBEYED else None


def cleaned(reply: ModelReply) -> ModelReply:
    """A reply as it can be kept; a model may write what is no text, and no journal could."""
    return msgspec.structs.replace(
        reply,
        text=None if reply.text is None else clean_text(reply.text),
        calls=tuple(
            AskedCall(clean_text(one.id), clean_text(one.name), clean_text(one.arguments))
            for one in reply.calls
        ),
        reasoning=None if reply.reasoning is None else clean_text(reply.reasoning),
    )


def model_tool(schema: Schema) -> ModelTool:
    """An OpenAI-style function as a model's port takes it."""
    function = cast("Mapping[str, object]", schema["function"])
    description = function.get("description")
    parameters = function.get("parameters")
    return ModelTool(
        name=str(function["name"]),
        description=None if description is None else str(description),
        schema=ANY_OBJECT if parameters is None else dict(cast("JsonObject", parameters)),
    )
