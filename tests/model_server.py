"""A server on loopback that plays turns in the three forms of wire that our adapters speak.

It writes each form as its provider documents it, streamed or whole, cut into pieces of any size.
"""

import json
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio.lowlevel
from aiohttp import web
from loopback_site import serving

from holdfast.agent.models.scripted import ScriptedCall, Turn

Json = dict[str, Any]


class TurnServer:
    """Plays turns, whoever asks; keeps what it was asked."""

    def __init__(self, turns: Iterable[Turn], *, piece: int = 0) -> None:
        self.turns = list(turns)
        self.asked: list[Json] = []
        self.headers: list[dict[str, str]] = []
        self.connections: set[Any] = set()
        self._piece = piece

    def app(self) -> web.Application:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/v1/chat/completions", self._answering(chat_events, chat_whole))
        app.router.add_post("/v1/responses", self._answering(response_events, response_whole))
        app.router.add_post("/v1/messages", self._answering(message_events, message_whole))
        return app

    def _answering(self, events: Any, whole: Any) -> Any:
        async def answer(request: web.Request) -> web.StreamResponse:
            self.connections.add(request.transport)
            asked = await request.json()
            self.asked.append(asked)
            self.headers.append(dict(request.headers))
            turn = self.turns.pop(0)
            if turn.error is not None:
                body = {"error": {"message": turn.error.told, "type": turn.error.trouble}}
                after = turn.error.retry_after
                headers = {} if after is None else {"Retry-After": str(after)}
                return web.json_response(body, status=turn.error.status or 500, headers=headers)
            if not asked.get("stream"):
                return web.json_response(whole(turn))
            text = "".join(events(turn)).encode()
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            step = self._piece or len(text)
            for begin in range(0, len(text), step):
                await response.write(text[begin : begin + step])
                if self._piece:
                    await anyio.lowlevel.checkpoint()
            return response

        return answer


@asynccontextmanager
async def turn_server(
    turns: Iterable[Turn], *, piece: int = 0
) -> AsyncGenerator[tuple[TurnServer, str]]:
    """The server, and the URL where its API begins."""
    server = TurnServer(turns, piece=piece)
    async with serving(server.app()) as site:
        yield server, f"{site}/v1"


def _data(value: Json, name: str = "") -> str:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value)}\n\n"


def _pieces(text: str) -> list[str]:
    """A text in three pieces: nothing may depend on getting it in one."""
    third = max(len(text) // 3, 1)
    return [piece for piece in (text[:third], text[third : 2 * third], text[2 * third :]) if piece]


def _arguments(call: ScriptedCall) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def _finish(turn: Turn) -> str:
    return turn.finish or ("tool_calls" if turn.calls else "stop")


def _chat_usage(turn: Turn) -> Json:
    used = turn.usage
    return {
        "prompt_tokens": used.input_tokens,
        "completion_tokens": used.output_tokens,
        "prompt_tokens_details": {"cached_tokens": used.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": used.reasoning_tokens},
    }


def chat_events(turn: Turn) -> Iterator[str]:
    def chunk(delta: Json, finish: str | None = None) -> str:
        return _data({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield ": a comment\n\n"
    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(turn.reasoning or ""):
        yield chunk({"reasoning_content": piece})
    for piece in _pieces(turn.text or ""):
        yield chunk({"content": piece})
    for index, call in enumerate(turn.calls):
        head = {"name": call.name, "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, "id": call.id, "function": head}]})
        for piece in _pieces(_arguments(call)):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, _finish(turn))
    yield _data({"choices": [], "usage": _chat_usage(turn)})
    yield "data: [DONE]\n\n"


def chat_whole(turn: Turn) -> Json:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": _arguments(call)},
        }
        for call in turn.calls
    ]
    message: Json = {"role": "assistant", "content": turn.text}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": _finish(turn)}
    return {"choices": [choice], "usage": _chat_usage(turn)}


def _output(turn: Turn) -> list[Json]:
    items: list[Json] = []
    if turn.reasoning is not None:
        summary = [{"type": "summary_text", "text": turn.reasoning}]
        sealed = {"encrypted_content": "sealed", "status": None}
        items.append({"type": "reasoning", "id": "rs_1", "summary": summary, **sealed})
    if turn.text is not None:
        part: Json = {"type": "output_text", "text": turn.text, "annotations": []}
        items.append({"type": "message", "id": "msg_1", "role": "assistant", "content": [part]})
    for place, call in enumerate(turn.calls):
        own = {"type": "function_call", "id": f"fc_{place}", "call_id": call.id}
        items.append({**own, "name": call.name, "arguments": _arguments(call)})
    return items


def response_whole(turn: Turn) -> Json:
    used = turn.usage
    return {
        "object": "response",
        "status": "incomplete" if turn.finish == "length" else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if turn.finish == "length" else None,
        "error": None,
        "output": _output(turn),
        "usage": {
            "input_tokens": used.input_tokens,
            "output_tokens": used.output_tokens,
            "input_tokens_details": {"cached_tokens": used.cached_tokens},
            "output_tokens_details": {"reasoning_tokens": used.reasoning_tokens},
        },
    }


def response_events(turn: Turn) -> Iterator[str]:
    def event(kind: str, **fields: Any) -> str:
        return _data({"type": kind, **fields}, kind)

    yield event("response.created", response={"status": "in_progress"})
    for place, item in enumerate(_output(turn)):
        started: Json = {**item, "arguments": "", "content": [], "summary": []}
        yield event("response.output_item.added", output_index=place, item=started)
        for piece in _pieces(turn.reasoning or "") if item["type"] == "reasoning" else ():
            yield event("response.reasoning_summary_text.delta", item_id="rs_1", delta=piece)
        for piece in _pieces(turn.text or "") if item["type"] == "message" else ():
            yield event("response.output_text.delta", item_id="msg_1", delta=piece)
        for piece in _pieces(item.get("arguments", "")):
            kind = "response.function_call_arguments.delta"
            yield event(kind, item_id=item["id"], delta=piece)
        yield event("response.output_item.done", output_index=place, item=item)
    whole = response_whole(turn)
    yield event(f"response.{whole['status']}", response=whole)


_STOPS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}


def _message_usage(turn: Turn) -> Json:
    used = turn.usage
    fresh = used.input_tokens - used.cached_tokens - used.cache_write_tokens
    return {
        "input_tokens": fresh,
        "cache_read_input_tokens": used.cached_tokens,
        "cache_creation_input_tokens": used.cache_write_tokens,
        "output_tokens": used.output_tokens,
    }


def message_whole(turn: Turn) -> Json:
    blocks: list[Json] = []
    if turn.reasoning is not None:
        blocks.append({"type": "thinking", "thinking": turn.reasoning, "signature": "signed"})
    if turn.text is not None:
        blocks.append({"type": "text", "text": turn.text})
    for call in turn.calls:
        given = json.loads(_arguments(call) or "{}")
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": given})
    stop = _STOPS.get(_finish(turn), _finish(turn))
    return {
        "type": "message",
        "role": "assistant",
        "content": blocks,
        "stop_reason": stop,
        "usage": _message_usage(turn),
    }


def message_events(turn: Turn) -> Iterator[str]:
    def event(kind: str, **fields: Any) -> str:
        return _data({"type": kind, **fields}, kind)

    counted = {**_message_usage(turn), "output_tokens": 1}
    yield event("message_start", message={"role": "assistant", "content": [], "usage": counted})
    yield event("ping")
    blocks: list[tuple[Json, list[Json]]] = []
    if turn.reasoning is not None:
        deltas = [{"type": "thinking_delta", "thinking": one} for one in _pieces(turn.reasoning)]
        signed = {"type": "signature_delta", "signature": "signed"}
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signed]))
    if turn.text is not None:
        deltas = [{"type": "text_delta", "text": one} for one in _pieces(turn.text)]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for call in turn.calls:
        deltas = [
            {"type": "input_json_delta", "partial_json": one} for one in _pieces(_arguments(call))
        ]
        head: Json = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        blocks.append((head, deltas))
    for index, (head, deltas) in enumerate(blocks):
        yield event("content_block_start", index=index, content_block=head)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    stop = {"stop_reason": _STOPS.get(_finish(turn), _finish(turn)), "stop_sequence": None}
    yield event("message_delta", delta=stop, usage={"output_tokens": turn.usage.output_tokens})
    yield event("message_stop")
