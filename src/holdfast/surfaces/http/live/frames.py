"""Server-sent events as bytes, and the response that sends them."""

from collections.abc import AsyncGenerator
from typing import NamedTuple

import msgspec
from starlette.responses import StreamingResponse

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


def streamed(frames: AsyncGenerator[bytes]) -> StreamingResponse:
    """The response."""
    return StreamingResponse(frames, media_type=MEDIA, headers=_HEADERS)
