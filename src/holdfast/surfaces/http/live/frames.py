"""Server-sent events as bytes, and the response that sends them."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import NamedTuple

import msgspec
from anyio import create_task_group, current_time, sleep_until
from starlette.responses import Response, StreamingResponse
from starlette.types import Send

QUIET_SECONDS = 15.0
"""After so long without a word a stream says that it is still there."""
STILL_HERE = b": still here\n\n"
MEDIA = "text/event-stream"
_HEADERS = {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}
_encode = msgspec.json.Encoder().encode


class Frame(NamedTuple):
    """One of them."""

    sequence: int
    """The number of the event that it tells; 0: it tells none."""
    data: bytes


def frame(kind: str, data: bytes, sequence: int = 0) -> Frame:
    """One of them. JSON has no line feeds of its own."""
    number = b"id: %d\n" % sequence if sequence else b""
    return Frame(sequence, b"%bevent: %b\ndata: %b\n\n" % (number, kind.encode(), data))


def told(kind: str, value: object) -> bytes:
    """One that tells a value."""
    return frame(kind, _encode(value)).data


def streamed(frames: AsyncGenerator[bytes], *, shows_life: bool = False) -> Response:
    """The response. ``shows_life``: while the frames are silent for long, it says that it is
    there, so that nobody in between takes it for dead."""
    return _Streamed(frames, QUIET_SECONDS if shows_life else None)


class _Streamed(StreamingResponse):
    """Closes what it sends where it sends it: frames may hold what only their own task can end."""

    def __init__(self, frames: AsyncGenerator[bytes], quiet_seconds: float | None) -> None:
        super().__init__(frames, media_type=MEDIA, headers=_HEADERS)
        self._frames = frames
        self._quiet_seconds = quiet_seconds
        self._sent_at = 0.0

    async def stream_response(self, send: Send) -> None:
        """All of it."""
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        async with create_task_group() as group:
            if self._quiet_seconds is not None:
                group.start_soon(self._show_life, send, self._quiet_seconds)
            async with aclosing(self._frames) as frames:
                async for data in frames:
                    await self._send(send, data)
            group.cancel_scope.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _show_life(self, send: Send, seconds: float) -> None:
        self._sent_at = current_time()
        while True:
            await sleep_until(due := self._sent_at + seconds)
            if due >= self._sent_at + seconds:
                await self._send(send, STILL_HERE)

    async def _send(self, send: Send, data: bytes) -> None:
        self._sent_at = current_time()
        await send({"type": "http.response.body", "body": data, "more_body": True})
