"""One connection of a client over HTTP: how long it may say nothing, or too little.

Whoever can reach the port can connect, and connections that only wait must not keep anybody out. So
a request has to be there within a time; where there are too many connections, the one that has
waited longest makes room; and who does not read is let go. What requests say is not known here.
"""

import math
from collections.abc import Iterable
from socket import IPPROTO_TCP, SO_SNDBUF, SOL_SOCKET, TCP_NODELAY, socket
from typing import TYPE_CHECKING, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from asyncio import Transport  # noqa: TID251 - as a type alone

MOST_CONNECTIONS = 512
HEAD_SECONDS = 10.0
"""From connecting, or from the last answer, to the end of a request's headers."""
BODY_SECONDS = 60.0
"""From there to the end of its body."""
UNREAD_SECONDS = 60.0
"""How long a client may read nothing of what it was sent."""
MAX_HEAD_BYTES = 64 * 1024

_NO_ROOM = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_TOO_LONG = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)

_SEND_BYTES = 256 * 1024


class Connection(HttpToolsProtocol):
    """Knows what the client owes, and until when."""

    due = math.inf
    """When the request that is awaited has to be there."""
    waits_since = 0.0
    """From when on it, or the rest of it, is awaited."""
    is_idle = True
    """Whether no request of it is being answered."""
    _is_whole = True
    _head_bytes = 0
    _unread = 0
    _read_due = math.inf

    def connection_made(self, transport: "Transport") -> None:
        """Take a client, instead of one who has said nothing where there are too many."""
        super().connection_made(transport)
        # A short answer must not wait for more, and what the system holds back must not hide for
        # long that a client reads.
        line = cast("socket", transport.get_extra_info("socket"))
        line.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        line.setsockopt(SOL_SOCKET, SO_SNDBUF, _SEND_BYTES)
        self._expect(HEAD_SECONDS)
        if len(self.connections) > MOST_CONNECTIONS:
            everybody = cast("set[Connection]", self.connections)
            waiting = (one for one in everybody if one.is_waiting)
            first = min(waiting, key=lambda one: one.waits_since)
            self.connections.discard(first)
            first.refuse(_NO_ROOM if first is self else b"")

    @property
    def is_waiting(self) -> bool:
        """Whether it is there for nothing but a request to come, or the rest of one.

        Whoever holds a body back has others wait as much as one who says nothing.
        """
        owes = self.is_idle or not self._is_whole
        return owes and not self.transport.get_write_buffer_size()

    def refuse(self, words: bytes = b"") -> None:
        """End it."""
        if words:
            self.transport.write(words)
            self.transport.close()
        else:
            self.transport.abort()

    def is_overdue(self, now: float) -> bool:
        """Whether the client has not sent, or not read, what it had to by now."""
        unread = self.transport.get_write_buffer_size()
        if not 0 < self._unread <= unread:  # nothing was left the last time, or more than now
            self._read_due = now + UNREAD_SECONDS
        self._unread = unread
        return (self._read_due if unread else self.due) < now

    def data_received(self, data: bytes) -> None:
        """Read on; a head without end is not kept."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.refuse(_TOO_LONG)

    def on_message_begin(self) -> None:
        """A request begins. One that does not wait for the answer to the last one is no request.

        While two are there nobody is told that the client of the first one has left.
        """
        if not self.is_idle:
            raise ValueError("a request before the last one is answered")
        self._is_whole = False
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Its body follows."""
        self._head_bytes, self.is_idle = 0, False
        self._expect(BODY_SECONDS)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of it."""
        self._head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """It is there: the client waits for us, unless it was refused before its end."""
        self._head_bytes = 0
        self._is_whole = True
        super().on_message_complete()
        self._expect(HEAD_SECONDS if self.is_idle else math.inf)

    def on_response_complete(self) -> None:
        """It is answered: we wait for the client."""
        self.is_idle = True
        super().on_response_complete()
        if self._is_whole:
            self._expect(HEAD_SECONDS)

    def _expect(self, seconds: float) -> None:
        self.waits_since = self.loop.time()
        self.due = self.waits_since + seconds


def end_all(connections: Iterable[object]) -> None:
    """End every one of them."""
    for one in list(connections):
        if isinstance(one, Connection):
            one.refuse()


def end_overdue(connections: Iterable[object], now: float) -> None:
    """End those whose clients owe us something for too long."""
    for one in list(connections):
        if isinstance(one, Connection) and one.is_overdue(now):
            one.refuse()
