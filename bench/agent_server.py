"""A chat-completions server that needs no time to think, for the benchmark of agent loops.

Whoever has no result yet is told to call `add` with 1 and 2; whoever has one is told "3". Answers
are written beforehand; a request is only read as far as it decides between them. `GET /count` says
how many requests were answered.

    python bench/agent_server.py      prints its port, serves until its input ends
"""

import asyncio
import json
import sys

import msgspec

ADD = {"name": "add", "arguments": '{"a":1,"b":2}'}
FINAL = {"name": "final_answer", "arguments": '{"answer":"3"}'}
"""How smolagents ends: with a call of its own tool."""
USAGE = {"prompt_tokens": 60, "completion_tokens": 12, "total_tokens": 72}
NAMED = {"id": "chatcmpl-1", "created": 1700000000, "model": "fake"}


class Message(msgspec.Struct):
    """As much of a message as decides."""

    role: str
    content: msgspec.Raw = msgspec.Raw(b"")


class StreamOptions(msgspec.Struct):
    """Whether the tokens are counted."""

    include_usage: bool = False


class Asked(msgspec.Struct):
    """As much of a request as decides."""

    messages: list[Message]
    stream: bool = False
    stream_options: StreamOptions | None = None


def whole(message: dict, finish: str) -> bytes:
    """An answer in one piece, as HTTP."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    body = json.dumps(
        {**NAMED, "object": "chat.completion", "choices": [choice], "usage": USAGE}
    ).encode()
    return _head(b"application/json", b"Content-Length: %d" % len(body)) + body


def streamed(pieces: list[dict], finish: str, *, counted: bool) -> bytes:
    """The same as server-sent events, as HTTP."""
    named = {**NAMED, "object": "chat.completion.chunk"}
    chunks = [
        {**named, "choices": [{"index": 0, "delta": piece, "finish_reason": None}]}
        for piece in [{"role": "assistant"}, *pieces]
    ]
    chunks.append({**named, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if counted:
        chunks.append({**named, "choices": [], "usage": USAGE})
    lines = [json.dumps(chunk).encode() for chunk in chunks] + [b"[DONE]"]
    events = [b"data: " + line + b"\n\n" for line in lines]
    body = b"".join(b"%x\r\n%s\r\n" % (len(event), event) for event in events) + b"0\r\n\r\n"
    return _head(b"text/event-stream", b"Transfer-Encoding: chunked") + body


def _head(kind: bytes, framing: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\n" + framing + b"\r\n\r\n"


def _calls(function: dict) -> dict:
    return {"content": None, "tool_calls": [{"id": "call_1", "type": "function", **_of(function)}]}


def _of(function: dict) -> dict:
    return {"function": function}


def _call_pieces(function: dict) -> list[dict]:
    first = {"index": 0, "id": "call_1", "type": "function"}
    named = {**first, "function": {"name": function["name"], "arguments": ""}}
    told = {"index": 0, "function": {"arguments": function["arguments"]}}
    return [{"tool_calls": [named]}, {"tool_calls": [told]}]


WHOLE = {
    "call": whole(_calls(ADD), "tool_calls"),
    "text": whole({"content": "3"}, "stop"),
    "final": whole(_calls(FINAL), "tool_calls"),
}
STREAMED = {
    (kind, counted): streamed(pieces, finish, counted=counted)
    for counted in (False, True)
    for kind, pieces, finish in (
        ("call", _call_pieces(ADD), "tool_calls"),
        ("text", [{"content": "3"}], "stop"),
        ("final", _call_pieces(FINAL), "tool_calls"),
    )
}
read = msgspec.json.Decoder(Asked).decode


class Connection(asyncio.Protocol):
    """One client; its requests are answered in order, on one connection."""

    answered = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.rest = b""

    def data_received(self, piece: bytes) -> None:
        self.rest += piece
        while (end := self.rest.find(b"\r\n\r\n")) >= 0:
            head = self.rest[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.rest) < end + 4 + length:
                return
            body = self.rest[end + 4 : end + 4 + length]
            self.rest = self.rest[end + 4 + length :]
            self.transport.write(self.answer(body) if body else self.count())

    def answer(self, body: bytes) -> bytes:
        """To one request for a completion."""
        Connection.answered += 1
        asked = read(body)
        kind = _kind(asked.messages[-1])
        if not asked.stream:
            return WHOLE[kind]
        options = asked.stream_options
        return STREAMED[kind, options is not None and options.include_usage]

    def count(self) -> bytes:
        """How many requests were answered."""
        body = b"%d" % Connection.answered
        return _head(b"text/plain", b"Content-Length: %d" % len(body)) + body


def _kind(last: Message) -> str:
    if last.role == "tool":
        return "text"
    # smolagents tells results as words of its user.
    return "final" if b"Observation:" in bytes(last.content) else "call"


async def serve() -> None:
    """Until the input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve())
