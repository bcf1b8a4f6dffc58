"""One request to one address by aiohttp. Loaded only when something is fetched.

Everything that aiohttp does by itself and that decides where bytes go is switched off: it neither
resolves nor follows, keeps no cookies, reads no environment and unpacks nothing.
"""

import asyncio
import io
import os
import socket
import ssl
from contextlib import suppress

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from holdfast._version import __version__
from holdfast.execution.network.admission import bracketed
from holdfast.execution.network.exchanging import (
    Broken,
    Exchanged,
    Pinned,
    Unconnected,
    Wanted,
    Watcher,
)
from holdfast.execution.network.unpacking import Unpackable, Unpacked
from holdfast.execution.network.web_request import WebRequest, is_redirect

CONNECT_SECONDS = 5.0
_LONGEST_FIELD = 8192
_MOST_FIELDS = 128
_READ_AHEAD = 64 * 1024
_AT_ONCE = 64 * 1024
"""So much of an answer is unpacked before others have their turn."""
_Place = tuple[int, int, int, str, tuple[object, ...]]
_OF_PACKING = frozenset({"content-encoding", "content-length"})


class AiohttpExchange:
    """Sends requests; holds what is trusted."""

    def __init__(self, certificates: str | None) -> None:
        self._trusted = ssl.create_default_context(cafile=certificates)

    async def __call__(
        self,
        request: WebRequest,
        pinned: Pinned,
        wanted: Wanted,
        watcher: Watcher,
        /,
    ) -> Exchanged:
        """One request, one answer."""
        sockets = _Sockets(pinned.address)
        async with self._session(pinned, watcher, sockets) as session:
            try:
                return await _exchanged(session, request, pinned, wanted, watcher)
            except aiohttp.ClientConnectorCertificateError as problem:
                why = getattr(problem.certificate_error, "verify_message", "") or "no reason given"
                raise Broken(f"its certificate is not that of {pinned.name} ({why})") from None
            except aiohttp.ClientSSLError as problem:
                why = getattr(problem.os_error, "reason", None) or "no reason given"
                raise Broken(f"there is no encrypted connection ({why})") from None
            except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as problem:
                raise Unconnected(_said(problem)) from None
            except aiohttp.ClientResponseError as problem:
                raise Broken(f"it answers with something that is no HTTP ({problem})") from None
            except aiohttp.ClientError:
                raise Broken("it closed the connection before its answer was complete") from None
            except Unpackable as problem:
                raise Broken(f"its answer cannot be unpacked: {problem}") from None
            finally:
                sockets.cut()

    def _session(
        self, pinned: Pinned, watcher: Watcher, sockets: "_Sockets"
    ) -> aiohttp.ClientSession:
        async def connected(*_: object) -> None:
            watcher.connected()

        traced = aiohttp.TraceConfig()
        traced.on_connection_create_end.append(connected)
        connector = aiohttp.TCPConnector(
            resolver=_One(pinned),
            socket_factory=sockets.make,
            ssl=self._trusted,
            use_dns_cache=False,
            force_close=True,
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            skip_auto_headers=("User-Agent", "Content-Type"),
            trace_configs=[traced],
            read_bufsize=_READ_AHEAD,
            max_line_size=_LONGEST_FIELD,
            max_field_size=_LONGEST_FIELD,
            max_headers=_MOST_FIELDS,
        )


class _Sockets:
    """Makes sockets for one address and no other, and sees to it that none stays open."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._made: list[socket.socket] = []

    def make(self, place: _Place) -> socket.socket:
        family, kind, protocol, _, found = place
        if found[0] != self._address:
            raise Unconnected(f"{found[0]} is not the address that was checked")
        self._made.append(socket.socket(family, kind, protocol))
        return self._made[-1]

    def cut(self) -> None:
        # A connection that is not told of is neither used nor closed by aiohttp.
        for one in self._made:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class _One(AbstractResolver):
    """Knows one name and one address for it."""

    def __init__(self, pinned: Pinned) -> None:
        self._pinned = pinned

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002 - the address decides
    ) -> list[ResolveResult]:
        """The address, whatever is asked for."""
        address = self._pinned.address
        found = socket.AF_INET6 if ":" in address else socket.AF_INET
        flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        return [
            ResolveResult(
                hostname=host, host=address, port=port, family=found, proto=0, flags=flags
            )
        ]

    async def close(self) -> None:
        """Nothing is held."""


async def _exchanged(
    session: aiohttp.ClientSession,
    request: WebRequest,
    pinned: Pinned,
    wanted: Wanted,
    watcher: Watcher,
) -> Exchanged:
    url = request.url
    shown = URL(f"{url.scheme}://{bracketed(pinned.name)}:{url.port}{url.target}", encoded=True)
    body = None if request.body is None else io.BytesIO(request.body)
    async with session.request(
        request.method, shown, headers=_headers(request), data=body, allow_redirects=False
    ) as response:
        fields = tuple(
            (name.decode("latin-1"), value.decode("utf-8", "replace"))
            for name, value in response.raw_headers
        )
        found = Exchanged(response.status, fields, b"", truncated=False)
        if wanted.follows and is_redirect(found.status, found.location):
            return found
        return await _read(found, response, wanted.max_bytes, watcher)


async def _read(
    found: Exchanged, response: aiohttp.ClientResponse, max_bytes: int, watcher: Watcher
) -> Exchanged:
    unpacked = Unpacked(response.headers.get("Content-Encoding", ""), max_bytes)
    async for piece in response.content.iter_any():
        watcher.received(len(piece))
        if not await fed(unpacked, piece):
            break
    fields = found.headers
    if unpacked.packed:
        fields = tuple(one for one in fields if one[0].lower() not in _OF_PACKING)
    return Exchanged(found.status, fields, unpacked.body(), unpacked.truncated)


async def fed(unpacked: Unpacked, piece: bytes) -> bool:
    """Take a piece, bit by bit, with a turn for others between; whether a further one is wanted."""
    for begin in range(0, len(piece), _AT_ONCE):
        if not unpacked.feed(piece[begin : begin + _AT_ONCE]):
            return False
        await asyncio.sleep(0)
    return True


def _headers(request: WebRequest) -> list[tuple[str, str]]:
    given = {name.lower() for name, _ in request.headers}
    ours = {"User-Agent": f"holdfast/{__version__}", "Accept-Encoding": "gzip, deflate"}
    kept = [(name, value) for name, value in ours.items() if name.lower() not in given]
    return [*kept, *request.headers]


def _said(problem: Exception) -> str:
    if isinstance(problem, aiohttp.ConnectionTimeoutError):
        return f"it did not answer within {CONNECT_SECONDS:g} s"
    number = getattr(problem, "errno", None)
    return os.strerror(number) if number else "it closed the connection"
