"""Answers over HTTP: a plain JSON document, or a stream of events where something comes before.

Which it is, the first message decides. What the messages say is not known here.
"""

import threading
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from anyio import create_task_group, move_on_after

from holdfast.execution.drive import Wakeup
from holdfast.surfaces.mcp.messages import encode

Sending = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receiving = Callable[[], Awaitable[MutableMapping[str, Any]]]

QUIET_SECONDS = 15.0
"""After so long without a message a stream says that it is still there."""
_DROP_BYTES = 256 * 1024
"""With so much unread, what may be left out is."""
_STREAM = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
}
_ALIVE = b": still there\n\n"


async def reply(
    send: Sending, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None
) -> None:
    """A whole answer."""
    kind = {"content-type": "application/json"} if body else {}
    await _start(send, status, {**kind, "content-length": str(len(body)), **(headers or {})})
    await send({"type": "http.response.body", "body": body})


async def refuse(
    send: Sending, status: int, reason: str, headers: Mapping[str, str] | None = None
) -> None:
    """An answer that says why there is none."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": reason}}
    await reply(send, status, encode(error), headers)


async def _start(send: Sending, status: int, headers: Mapping[str, str]) -> None:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})


class Answering:
    """The outlet of one HTTP request."""

    def __init__(self) -> None:
        self._messages: deque[bytes] = deque()
        self._bytes = 0
        self._counting = threading.Lock()
        self._filled = Wakeup()
        self._last: tuple[bytes, int] | None = None

    def send(self, message: bytes, /, *, droppable: bool = False) -> None:
        """A message that others follow."""
        with self._counting:
            if self._last is not None or (droppable and self._bytes > _DROP_BYTES):
                return
            self._bytes += len(message)
        self._messages.append(message)
        self._filled.set()

    def finish(self, message: bytes, code: int = 0, /) -> None:
        """The last message."""
        self._last = (message, code)
        self._filled.set()

    def close(self) -> None:
        """Nothing comes any more, and no answer either."""
        self.finish(b"")

    def skip(self) -> None:
        """There will be no answer: whoever waits is let go."""
        self.close()

    async def respond(
        self,
        send: Sending,
        receive: Receiving,
        *,
        status: Callable[[int], int],
        gone: Callable[[], None],
        headers: Mapping[str, str] | None = None,
        waits: bool = True,
    ) -> None:
        """Answer the request. ``gone`` is called when nobody waits for the answer any more.

        ``waits``: until something comes it is open whether a stream does.
        """
        if self._last is not None and not self._messages:
            await self._reply(send, status, headers)
            return
        async with create_task_group() as group:

            async def watch() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                gone()
                group.cancel_scope.cancel()

            group.start_soon(watch)
            with move_on_after(QUIET_SECONDS if waits else 0):
                await self._filled.wait()
            if self._last is not None and not self._messages:
                await self._reply(send, status, headers)
            else:
                await self.stream(send, headers)
            group.cancel_scope.cancel()

    async def _reply(
        self, send: Sending, status: Callable[[int], int], headers: Mapping[str, str] | None
    ) -> None:
        message, code = self._last or (b"", 0)
        await reply(send, status(code) if message else 202, message, headers)

    async def stream(self, send: Sending, headers: Mapping[str, str] | None = None) -> None:
        """Send messages as they come, until the last one."""
        await _start(send, 200, {**_STREAM, **(headers or {})})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        while True:
            self._filled = Wakeup()
            while self._messages:
                message = self._messages.popleft()
                with self._counting:
                    self._bytes -= len(message)
                await _event(send, message)
            if self._last is not None:
                break
            with move_on_after(QUIET_SECONDS) as quiet:
                await self._filled.wait()
            if quiet.cancelled_caught:
                await send({"type": "http.response.body", "body": _ALIVE, "more_body": True})
        if self._last[0]:
            await _event(send, self._last[0])
        await send({"type": "http.response.body", "body": b""})


async def _event(send: Sending, message: bytes) -> None:
    event = b"event: message\ndata: %b\n\n" % message
    await send({"type": "http.response.body", "body": event, "more_body": True})
