"""A server on loopback that answers with exactly the bytes it is given, or with none.

For answers that no decent server gives.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

import anyio
from anyio.abc import SocketAttribute, SocketStream


class Again(NamedTuple):
    """From here on this, again and again, with little pauses."""

    piece: bytes


Piece = bytes | Again | None
"""None: from here on silence, with the connection open."""
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
STREAM = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
UNTIL_CLOSED = HEAD + b"Connection: close\r\n\r\n"


def chunked(body: bytes) -> bytes:
    """One chunk of a body."""
    return b"%x\r\n%s\r\n" % (len(body), body)


LAST = b"0\r\n\r\n"


def whole(body: bytes, status: str = "200 OK", kind: str = "application/json", *more: str) -> bytes:
    """A complete answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *more]
    return "\r\n".join([*lines, "", ""]).encode() + body


class RawServer:
    """Gives the answers one after the other, a list of pieces each; then it closes."""

    def __init__(self, answers: Sequence[Sequence[Piece]]) -> None:
        self._answers = list(answers)
        self.asked: list[bytes] = []
        self.heads: list[bytes] = []
        self.connections = 0

    async def serve(self, stream: SocketStream) -> None:
        self.connections += 1
        try:
            async with stream:
                while self._answers:
                    head, body = await _request(stream)
                    self.heads.append(head)
                    self.asked.append(body)
                    for piece in self._answers.pop(0):
                        await _send(stream, piece)
        except (anyio.BrokenResourceError, anyio.EndOfStream, anyio.ClosedResourceError):
            pass  # the client had enough


async def _send(stream: SocketStream, piece: Piece) -> None:
    if piece is None:
        await anyio.sleep_forever()
    elif isinstance(piece, bytes):
        await stream.send(piece)
    else:
        while True:
            await stream.send(piece.piece)
            await anyio.sleep(0.02)


async def _request(stream: SocketStream) -> tuple[bytes, bytes]:
    read = b""
    while b"\r\n\r\n" not in read:
        read += await stream.receive()
    head, _, body = read.partition(b"\r\n\r\n")
    lengths = [
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    ]
    length = sum(lengths)
    while len(body) < length:
        body += await stream.receive()
    return head, body


@asynccontextmanager
async def raw_server(*answers: Sequence[Piece]) -> AsyncGenerator[tuple[RawServer, str]]:
    """The server, and the URL where an API would begin."""
    server = RawServer(answers)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, server.serve)
        yield server, f"http://127.0.0.1:{port}/v1"
        tasks.cancel_scope.cancel()
