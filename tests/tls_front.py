"""TLS in front of a PostgreSQL that was built without: it takes nobody who does not ask for it."""

import ssl
import struct
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial

import anyio
from anyio.abc import ByteStream, SocketAttribute, SocketStream
from anyio.from_thread import start_blocking_portal
from anyio.streams.tls import TLSStream
from identities import LOCAL, Papers

_TLS, _GSS = struct.pack("!ii", 8, 80877103), struct.pack("!ii", 8, 80877104)
_GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, ssl.SSLError)


class TlsFront:
    """Where it listens, and what it was told before there was TLS."""

    def __init__(self, papers: Papers | None, behind: str) -> None:
        """Without ``papers`` it says that it speaks none, and hears what it is told then."""
        self.port = 0
        self.heard = b""
        self._behind = behind
        self._context: ssl.SSLContext | None = None
        if papers is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(papers.cert, papers.key)

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator["TlsFront"]:
        listener = await anyio.create_tcp_listener(local_host=LOCAL)
        async with listener, anyio.create_task_group() as group:
            self.port = listener.extra(SocketAttribute.local_port)
            group.start_soon(listener.serve, self._take)
            yield self
            group.cancel_scope.cancel()

    async def _take(self, stream: SocketStream) -> None:
        async with stream:
            try:
                asked = await stream.receive()
                while asked == _GSS or (asked == _TLS and self._context is None):
                    await stream.send(b"N")
                    asked = await stream.receive()
                if asked != _TLS or self._context is None:
                    self.heard += asked
                    return
                await stream.send(b"S")
                inside = await TLSStream.wrap(
                    stream, server_side=True, ssl_context=self._context, standard_compatible=False
                )
                await self._pass_on(inside)
            except _GONE:
                return

    async def _pass_on(self, inside: ByteStream) -> None:
        async with (
            inside,
            await anyio.connect_unix(self._behind) as behind,
            anyio.create_task_group() as group,
        ):
            end = group.cancel_scope.cancel
            group.start_soon(partial(_copy, inside, behind, end))
            group.start_soon(partial(_copy, behind, inside, end))


async def _copy(source: ByteStream, target: ByteStream, end: object) -> None:
    try:
        while True:
            await target.send(await source.receive())
    except _GONE:
        assert callable(end)
        end()


@contextmanager
def tls_in_front(papers: Papers | None, behind: str) -> Generator[TlsFront]:
    """``behind``: the socket of the PostgreSQL."""
    front = TlsFront(papers, behind)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(front.listening()):
        yield front
