"""What `holdfast worker --health` answers: does it live, is it ready, and what did it count?

Three paths that are only read, and nothing secret behind them. What is counted is not known here.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import NamedTuple

from anyio import (
    BrokenResourceError,
    ClosedResourceError,
    DelimiterNotFound,
    EndOfStream,
    IncompleteRead,
    create_task_group,
    create_tcp_listener,
    move_on_after,
)
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from holdfast.app.meter import Meter
from holdfast.surfaces.cli.parsing import UsageError

_GONE = (EndOfStream, IncompleteRead, BrokenResourceError, ClosedResourceError)
_ASK_SECONDS = 5.0
_MOST_BYTES = 8192
_PLAIN = "text/plain; charset=utf-8"
_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


class _Told(NamedTuple):
    status: str
    kind: str
    text: str


@asynccontextmanager
async def answering(host: str, port: int, meter: Meter) -> AsyncGenerator[int]:
    """Answer until it is left; at which port. UsageError where nobody can listen there."""
    try:
        listener = await create_tcp_listener(local_host=host, local_port=port)
    except OSError as problem:
        reason = problem.strerror or problem
        raise UsageError(f"--health {host}:{port}: {reason}; choose another port") from None
    async with listener, create_task_group() as group:
        group.start_soon(listener.serve, partial(_answer, meter))
        yield listener.extra(SocketAttribute.local_port)
        group.cancel_scope.cancel()


async def _answer(meter: Meter, stream: SocketStream) -> None:
    async with stream:
        with move_on_after(_ASK_SECONDS):
            try:
                asked = await BufferedByteReceiveStream(stream).receive_until(
                    b"\r\n\r\n", _MOST_BYTES
                )
                await stream.send(_response(asked, meter))
            except (*_GONE, DelimiterNotFound):
                return  # whatever a stranger sends ends this connection alone


def _response(asked: bytes, meter: Meter) -> bytes:
    method, _, rest = asked.partition(b"\r\n")[0].decode("latin-1").partition(" ")
    path = rest.partition(" ")[0].partition("?")[0]
    if method not in {"GET", "HEAD"}:
        told = _Told("405 Method Not Allowed", _PLAIN, "it can only be read: GET\n")
    else:
        found: Callable[[Meter], _Told] | None = _PATHS.get(path)
        told = _NOTHING if found is None else found(meter)
    body = told.text.encode()
    head = (
        f"HTTP/1.1 {told.status}\r\nContent-Type: {told.kind}\r\nContent-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    ).encode()
    return head if method == "HEAD" else head + body


def _lives(_meter: Meter) -> _Told:
    return _Told("200 OK", _PLAIN, "it lives\n")


def _ready(meter: Meter) -> _Told:
    if meter.is_ready:
        return _Told("200 OK", _PLAIN, "it is ready\n")
    why = "it ends" if meter.draining else "it cannot hear what is due now"
    return _Told("503 Service Unavailable", _PLAIN, f"{why}\n")


def _metrics(meter: Meter) -> _Told:
    return _Told("200 OK", _PROMETHEUS, meter.lines())


_PATHS = {"/healthz": _lives, "/readyz": _ready, "/metrics": _metrics}
_NOTHING = _Told("404 Not Found", _PLAIN, f"there is {', '.join(_PATHS)}\n")
