"""The limit: asyncio streams, HTTP by hand, msgspec. No library of HTTP, no library of agents."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from agent_paths import by_hand, task


class Connections:
    """Connections that are kept and used one request at a time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def posted(self, body: bytes) -> bytes:
        """One request and the body of its answer."""
        if self._idle:
            reader, writer = self._idle.pop()
        else:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        head = (
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n"
        )
        writer.write(head % len(body) + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = int(answer.lower().split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
        told = await reader.readexactly(length)
        self._idle.append((reader, writer))
        return told

    def close(self) -> None:
        for _, writer in self._idle:
            writer.close()


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[task.Loop]:
    port = urlsplit(url).port
    assert port is not None
    connections = Connections(port)

    async def once() -> str:
        messages = by_hand.first()
        while True:
            said = by_hand.step(messages, await connections.posted(by_hand.asked(messages)))
            if said is not None:
                return said

    yield task.Loop("raw asyncio HTTP + msgspec", "limit", once)
    connections.close()
