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

    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        try:
            await handler(reader, writer)
            writer.close()
            await writer.wait_closed()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            # A handler that ends by being cancelled would be a complaint of the event loop's.
            writer.transport.abort()
        serving.discard(task)

    server = await asyncio.start_server(serve, host, 0, limit=1 << 20, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving)


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
