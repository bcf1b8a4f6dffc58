"""A server at an address as a transport of the SDK, with credentials and bounds of ours.

Credentials come from the setup: headers, or a token in a file. They are put on requests to that
origin alone, read again once where the server refuses them, and never shown. Redirects to another
origin are not followed (the SDK's rule), proxies of the environment are not used. With every
request it is asked whether the host may be reached, and an address that was admitted is connected.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, cast

import httpx2
from anyio import current_time, getaddrinfo, sleep, to_thread
from mcp.client.streamable_http import streamable_http_client

from holdfast.contract.gates import HostGate, HostLeave, Refusal
from holdfast.sources.mcp.expansion import expanded
from holdfast.sources.mcp.lines import LONGEST_LINE, is_crowded
from holdfast.sources.mcp.ports import Ports
from holdfast.sources.mcp.setup import BadSetup, ServerSetup, host_of

_REFUSED = (401, 403)
_EVENTS = "text/event-stream"
_END_OF_EVENT = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
"""As the SDK has it: two ends of lines, each of any kind."""
_PIECE = 1024 * 1024
_CROWDED = "the answer holds too many values"
LISTENING_SECONDS = 1.0
"""For each request to listen, on average: a server may close the stream at once, and ask for no
rest. One that closes it now and then has what it asks for."""
LISTENING_AT_ONCE = 10


class Credentials(httpx2.Auth):
    """What a server is shown to be let in; read anew once when it is refused."""

    def __init__(self, setup: ServerSetup, ports: Ports) -> None:
        self._setup = setup
        self._ports = ports
        self._read: Mapping[str, str] | None = None
        self.status: int | None = None
        """Of the server's last answer to what was said to it; listening and farewells are not."""

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Once with what was read before, and after a refusal once with what is there now."""
        if not _is_at_home(request.url, expanded(self._setup, self._ports.environment).url or ""):
            yield request  # what they were given for is elsewhere
            return
        if self._read is None:
            self._read = await self._headers()
        request.headers.update(self._read)
        response = yield request
        if response.status_code == _REFUSED[0]:
            self._read = await self._headers()
            request.headers.update(self._read)
            response = yield request
        if request.method == "POST":
            self.status = response.status_code

    @property
    def refused(self) -> bool:
        """Whether the server did not take them when it answered last."""
        return self.status in _REFUSED

    async def _headers(self) -> Mapping[str, str]:
        return await to_thread.run_sync(partial(headers_of, self._setup, self._ports))


def headers_of(setup: ServerSetup, ports: Ports) -> dict[str, str]:
    """The headers of a setup as variables and files are now; BadSetup. Blocking."""
    now = expanded(setup, ports.environment)
    headers = dict(now.headers)
    if now.token_file is not None:
        try:
            token = ports.read_text(now.token_file).strip()
        except (OSError, ValueError) as problem:
            kind = type(problem).__name__
            raise BadSetup(
                f"mcp server {setup.name}: its token_file cannot be read ({kind})"
            ) from None
        ports.redaction.learn([token])
        headers["Authorization"] = f"Bearer {token}"
    if not all(_sendable(text) for text in (*headers, *headers.values())):
        raise BadSetup(
            f"mcp server {setup.name}: a header holds a line break or characters that headers"
            " cannot hold"
        )
    return headers


def _sendable(text: str) -> bool:
    return text.isascii() and text.isprintable()


class _Bounded(httpx2.AsyncByteStream):
    """A body that is read up to a bound."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        whole = bytearray()
        async for piece in self._stream:
            whole += piece
            if len(whole) > LONGEST_LINE:
                raise httpx2.StreamError("the answer is larger than 16 MB")
            yield piece
        if is_crowded(bytes(whole)):
            raise httpx2.StreamError(_CROWDED)

    async def aclose(self) -> None:
        await self._stream.aclose()


class BoundedEvents(_Bounded):
    """A stream of events: each of them is looked at before it is read as JSON."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        event = bytearray()
        async for piece in self._stream:
            event += piece
            end = _END_OF_EVENT.search(event, max(0, len(event) - len(piece) - 3))
            if len(event) > LONGEST_LINE + _PIECE:
                raise httpx2.StreamError("an event is larger than 16 MB")
            if end is None:
                yield piece
                continue
            if is_crowded(bytes(event)):
                raise httpx2.StreamError(_CROWDED)
            event = bytearray(_END_OF_EVENT.split(bytes(event))[-1])
            yield piece


class _BoundedAnswers(httpx2.AsyncHTTPTransport):
    def __init__(self, gate: HostGate) -> None:
        super().__init__()
        self._gate = gate
        self._listened_until = 0.0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        # What is packed has no bound that could be counted before it is unpacked.
        request.headers["accept-encoding"] = "identity"
        if request.method == "GET":
            await self._rest()
        response = await super().handle_async_request(await self._admitted(request))
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            raise httpx2.StreamError("the answer is packed, which nobody asked for")
        kind = response.headers.get("content-type", "").lower()
        bounded = BoundedEvents if kind.startswith(_EVENTS) else _Bounded
        response.stream = bounded(cast("httpx2.AsyncByteStream", response.stream))
        return response

    async def _rest(self) -> None:
        now = current_time()
        self._listened_until = max(self._listened_until, now) + LISTENING_SECONDS
        ahead = self._listened_until - now - LISTENING_AT_ONCE * LISTENING_SECONDS
        await sleep(max(0.0, ahead))

    async def _admitted(self, request: httpx2.Request) -> httpx2.Request:
        """The request to an address that may be connected to; Unreachable.

        What was checked is what is connected to: another look at the name could find another one.
        """
        leave = admitted(self._gate, str(request.url))
        url = request.url
        try:
            found = await getaddrinfo(url.host, url.port)
        except OSError as problem:
            raise Unreachable(f"{url.host}: {problem.strerror or problem}") from None
        addresses = dict.fromkeys(str(one[4][0]) for one in found)
        address = next((one for one in addresses if leave.reaches(one)), None)
        if address is None:
            raise Unreachable(
                f"{url.host} leads to {', '.join(addresses)}, which may not be reached: name the"
                " address among its requires.hosts, too, if it is meant"
            )
        return httpx2.Request(
            request.method,
            url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": url.host},
        )


class Unreachable(httpx2.ConnectError):
    """A host that may not be reached, or an address that is not there."""


def admitted(gate: HostGate, url: str) -> HostLeave:
    """Leave to reach the host of an address; Unreachable."""
    leave = gate(url)
    if isinstance(leave, Refusal):
        raise Unreachable(f"its host may not be reached: {leave.reason}")
    return leave


def _is_at_home(url: httpx2.URL, configured: str) -> bool:
    """Whether an address is of the origin that credentials were given for, or that one with TLS."""
    home = httpx2.URL(configured)
    if (url.scheme, url.host, url.port) == (home.scheme, home.host, home.port):
        return True
    with_tls = (home.scheme, url.scheme) == ("http", "https")
    return with_tls and url.host == home.host and url.port is home.port is None


def http_transport(
    setup: ServerSetup, ports: Ports, credentials: Credentials
) -> AbstractAsyncContextManager[Any]:
    """The transport; BadSetup where the address is none."""
    url = expanded(setup, ports.environment).url or ""
    host_of(url, setup.name)
    gate = ports.gate(setup)
    try:
        admitted(gate, url)  # before a token is even read
    except Unreachable as problem:
        raise BadSetup(f"mcp server {setup.name}: {problem}") from None
    headers_of(setup, ports)

    @asynccontextmanager
    async def connected() -> AsyncGenerator[Any]:
        # Deadlines are ours: a stream may be silent for as long as its call takes.
        timeout = httpx2.Timeout(setup.startup_seconds, read=None)
        async with (
            httpx2.AsyncClient(
                auth=credentials, timeout=timeout, transport=_BoundedAnswers(gate), trust_env=False
            ) as client,
            streamable_http_client(
                url, http_client=client, max_sse_event_size=LONGEST_LINE
            ) as streams,
        ):
            yield streams

    return connected()
