"""A server at an address as a transport of the SDK, with credentials and bounds of ours.

Credentials come from the setup: headers, or a token in a file. They are put on requests to that
address alone, read again once where the server refuses them, and never shown. Redirects to another
origin are not followed (the SDK's rule), proxies of the environment are not used.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, cast

import httpx2
from anyio import to_thread
from mcp.client.streamable_http import streamable_http_client

from holdfast.sources.mcp.expansion import expanded
from holdfast.sources.mcp.lines import LONGEST_LINE
from holdfast.sources.mcp.ports import Ports
from holdfast.sources.mcp.setup import BadSetup, ServerSetup, host_of

_REFUSED = (401, 403)
_EVENTS = "text/event-stream"


class Credentials(httpx2.Auth):
    """What a server is shown to be let in; read anew once when it is refused."""

    def __init__(self, setup: ServerSetup, ports: Ports) -> None:
        self._setup = setup
        self._ports = ports
        self._read: Mapping[str, str] | None = None
        self.refused: int | None = None
        """With which status the server refused last; None: it did not."""

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Once with what was read before, and after a refusal once with what is there now."""
        if self._read is None:
            self._read = await self._headers()
        request.headers.update(self._read)
        response = yield request
        if response.status_code == _REFUSED[0]:
            self._read = await self._headers()
            request.headers.update(self._read)
            response = yield request
        self.refused = response.status_code if response.status_code in _REFUSED else None

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
    """A body that is read up to a bound; streams of events are bounded event by event."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for piece in self._stream:
            count += len(piece)
            if count > LONGEST_LINE:
                raise httpx2.StreamError("the answer is larger than 16 MB")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


class _BoundedAnswers(httpx2.AsyncHTTPTransport):
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        # What is packed has no bound that could be counted before it is unpacked.
        request.headers["accept-encoding"] = "identity"
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            raise httpx2.StreamError("the answer is packed, which nobody asked for")
        kind = response.headers.get("content-type", "").lower()
        if not kind.startswith(_EVENTS):
            response.stream = _Bounded(cast("httpx2.AsyncByteStream", response.stream))
        return response


def http_transport(
    setup: ServerSetup, ports: Ports, credentials: Credentials
) -> AbstractAsyncContextManager[Any]:
    """The transport; BadSetup where the address is none."""
    url = expanded(setup, ports.environment).url or ""
    host_of(url, setup.name)
    headers_of(setup, ports)

    @asynccontextmanager
    async def connected() -> AsyncGenerator[Any]:
        # Deadlines are ours: a stream may be silent for as long as its call takes.
        timeout = httpx2.Timeout(setup.startup_seconds, read=None)
        async with (
            httpx2.AsyncClient(
                auth=credentials, timeout=timeout, transport=_BoundedAnswers(), trust_env=False
            ) as client,
            streamable_http_client(
                url, http_client=client, max_sse_event_size=LONGEST_LINE
            ) as streams,
        ):
            yield streams

    return connected()
