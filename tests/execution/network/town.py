"""A small world on loopback for tests of the network: names, addresses, a gate, hosts that answer.

The gate is a thin one over the host patterns of policy, so that odd spellings are judged for real.
"""

import asyncio
import socket
import ssl
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from holdfast.contract.gates import HostLeave, Refusal
from holdfast.contract.net import HostAttempt
from holdfast.execution.network.attempts import Attempts
from holdfast.execution.network.conversation import USUAL_LIMITS, ProxyLimits, Ways
from holdfast.execution.network.egress_proxy import EgressProxy
from holdfast.policy.host_patterns import HostPatterns, admits_address
from holdfast.policy.hosts import HostProblem, host_of
from holdfast.runtime.clock import SystemClock

LOOPBACK = "127.0.0.1"
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Gate:
    """Admits hosts by patterns, and counts what it was asked."""

    def __init__(self, *patterns: str) -> None:
        self._patterns = HostPatterns(patterns)
        self.asked: list[str] = []

    def __call__(self, host: str, /) -> HostLeave | Refusal:
        self.asked.append(host)
        judged = host_of(host)
        if isinstance(judged, HostProblem):
            return Refusal(reason=f"The host is refused: {judged.reason}.", target=host)
        match = self._patterns.match(judged)
        if match is None:
            needed = f"requires.net.hosts = ['{judged.name}']"
            return Refusal(
                reason=f"No granted host pattern admits '{judged.name}'.",
                target=host,
                requirement=needed,
            )
        return HostLeave(judged.name, judged.port, lambda address: admits_address(match, address))


class Names:
    """A resolver that answers from a table, one answer after the other, the last one for ever."""

    def __init__(self, table: Mapping[str, Sequence[Sequence[str]]] | None = None) -> None:
        self._table = {name: list(answers) for name, answers in (table or {}).items()}
        self.asked: list[str] = []

    async def __call__(self, name: str, /) -> tuple[str, ...]:
        self.asked.append(name)
        answers = self._table.get(name)
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return tuple(answers.pop(0) if len(answers) > 1 else answers[0])


class Town(NamedTuple):
    """A proxy and what can be seen of it."""

    proxy: EgressProxy
    gate: Gate
    names: Names
    told: list[HostAttempt]

    async def ask(self, words: bytes, *, close: bool = False) -> bytes:
        """Say something to the proxy and hear all it answers."""
        reader, writer = await asyncio.open_connection(LOOPBACK, self.proxy.port)
        try:
            writer.write(words)
            if close:
                writer.write_eof()
            return await reader.read()
        finally:
            writer.transport.abort()


@asynccontextmanager
async def proxied(
    gate: Gate, names: Names | None = None, limits: ProxyLimits = USUAL_LIMITS
) -> AsyncGenerator[Town]:
    """A proxy on this machine's own loopback."""
    told: list[HostAttempt] = []
    resolver = names or Names()
    with socket.create_server((LOOPBACK, 0)) as listener:
        ways = Ways(gate, resolver, Attempts(SystemClock(), told.append), limits)
        proxy = EgressProxy(listener, ways)
        try:
            yield Town(proxy, gate, resolver, told)
        finally:
            await proxy.close()


@asynccontextmanager
async def served(
    handler: Handler, host: str = LOOPBACK, tls: ssl.SSLContext | None = None
) -> AsyncGenerator[int]:
    """A host that answers as the handler does; its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handler(reader, writer)
            writer.close()
            await writer.wait_closed()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            # A handler that ends by being cancelled would be a complaint of the event loop's.
            writer.transport.abort()

    visitors = _Visitors(serve)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(visitors.enter, host, 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        # Whoever does not get through the handshake never enters.
        await visitors.sent_home(expected=tls is None)


class _Visitors:
    """Connections, from the moment they are taken: one that nobody serves yet is closed as well."""

    def __init__(self, serve: Handler) -> None:
        self._serve = serve
        self._inside: set[_Visit] = set()

    def enter(self) -> asyncio.Protocol:
        visit = _Visit(self._serve, self._inside.discard)
        self._inside.add(visit)
        return visit

    async def sent_home(self, *, expected: bool) -> None:
        while any(expected or visit.entered for visit in self._inside):
            for visit in self._inside:
                visit.end()
            await asyncio.sleep(0.005)


class _Visit(asyncio.StreamReaderProtocol):
    def __init__(self, serve: Handler, gone: Callable[["_Visit"], None]) -> None:
        super().__init__(asyncio.StreamReader(limit=1 << 20), self._served)
        self._handle = serve
        self._gone = gone
        self._line: asyncio.BaseTransport | None = None
        self._serving: asyncio.Task[None] | None = None
        self._over = False

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._serving = asyncio.current_task()
        await self._handle(reader, writer)
        self._serving = None
        self._leave()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._line = transport
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._over = True
        self._leave()

    @property
    def entered(self) -> bool:
        return self._line is not None

    def end(self) -> None:
        if isinstance(self._line, asyncio.WriteTransport):
            self._line.abort()
        if self._serving is not None:
            self._serving.cancel()

    def _leave(self) -> None:
        if self._over and self._serving is None:
            self._gone(self)


class Site:
    """Hears requests and answers each with the same words."""

    def __init__(
        self, answer: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    ) -> None:
        self._answer = answer
        self.heard: list[bytes] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(self._answer)
        await writer.drain()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Says back what it hears."""
    while piece := await reader.read(1 << 16):
        writer.write(piece)
        await writer.drain()


async def until(holds: Callable[[], bool]) -> None:
    """Wait for something that nobody tells."""
    while not holds():
        await asyncio.sleep(0.005)


class Identity(NamedTuple):
    """Who a host can prove to be."""

    certificate: Path
    server: ssl.SSLContext


def identity(folder: Path, name: str) -> Identity:
    """A certificate that vouches for itself and for one name."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-nodes", "-days", "2"),
            *("-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", f"/CN={name}"),
            *("-addext", f"subjectAltName=DNS:{name}"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return Identity(certificate, context)
