"""One question over HTTP: its bytes out, its reply in pieces to whoever reads it.

One session for each event loop, so that connections are used again. It knows the limits of time and
size, and what a status means; not what is asked, nor what a reply says.
"""

import io
import math
import os
from collections.abc import Callable, Mapping

import aiohttp
import anyio
import msgspec
from yarl import URL

from holdfast._version import __version__
from holdfast.agent.models.event_stream import EventStream
from holdfast.agent.models.form import Taking
from holdfast.agent.models.setup import Patience
from holdfast.agent.models.troubles import MOST_ERROR_BYTES, malformed, moved, refusal
from holdfast.agent.models.wire import is_whole
from holdfast.contract.model import ModelError
from holdfast.runtime.driving import this_loop

_LARGE_BODY = 1 << 20
"""From here on a body is written piece by piece."""
_KEPT_SECONDS = 75.0
_LAST_SECONDS = 1.0
"""How long is waited for the end of a reply that is complete already."""
_GRACE_SECONDS = 5.0
"""And where only what it cost is missing, and that it ends: not every server says so."""
_MOST_REST_BYTES = 64 * 1024
MOST_DOCUMENT_BYTES = 8 * 1024 * 1024
"""Of a reply in one piece, which is read in one step."""
_SPACE = b" \t\r\n\xef\xbb\xbf"


class Destination(msgspec.Struct, frozen=True, kw_only=True):
    """Where questions go, and how long and how much is taken."""

    url: str
    headers: Mapping[str, str]
    secret: str
    patience: Patience
    most_bytes: int
    proxy: str = ""
    """Empty: none."""

    def __repr__(self) -> str:
        """Without what may be secret."""
        return f"Destination({self.url!r})"


class Exchange:
    """Asks at one address. Used on one event loop at a time, by many at once."""

    def __init__(self, destination: Destination) -> None:
        self._to = destination
        self._url = URL(destination.url)
        self._proxy = URL(destination.proxy) if destination.proxy else None
        self._session: aiohttp.ClientSession | None = None
        self._loop: object = None

    async def ask(self, body: bytes, reading: Taking) -> None:
        """Send it, and hand the reply over; ModelError."""
        scope = anyio.CancelScope()
        waiting = _Waiting(scope, self._to.patience, anyio.current_time())
        pieces = _Pieces(reading, waiting, self._to.most_bytes)
        with scope:
            async with await self._sent(body) as response:
                if response.status != 200:
                    waiting.for_a_reason()
                    await self._refused(response)
                await pieces.read(response)
        if scope.cancelled_caught and not pieces.is_enough:
            raise ModelError("timeout", waiting.told())
        pieces.end()

    async def close(self) -> None:
        """Let go of connections; the next question opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _sent(self, body: bytes) -> aiohttp.ClientResponse:
        """The beginning of what comes back."""
        sent = body if len(body) < _LARGE_BODY else io.BytesIO(body)
        try:
            return await self._opened().post(
                self._url, data=sent, allow_redirects=False, proxy=self._proxy
            )
        except (aiohttp.ClientError, OSError) as problem:
            raise unreached(problem, self._url) from None
        except ValueError:
            raise ModelError(
                "bad_request", "a header cannot be sent; check the key and headers"
            ) from None

    async def _refused(self, response: aiohttp.ClientResponse) -> None:
        """Say what a status means that is not the one for a reply."""
        if 200 <= response.status < 300:
            raise malformed(f"answered {response.status}, which is no reply")
        secret = self._to.secret
        if 300 <= response.status < 400:
            raise moved(response.status, secret, response.headers.get("Location"))
        said = b""
        try:
            with anyio.move_on_after(_LAST_SECONDS):
                while len(said) < MOST_ERROR_BYTES and (piece := await response.content.readany()):
                    said += piece
        except (aiohttp.ClientError, OSError):
            pass  # the status says enough
        raise refusal(response.status, said[:MOST_ERROR_BYTES], response.headers, secret)

    def _opened(self) -> aiohttp.ClientSession:
        here = this_loop()
        if self._session is None or self._session.closed or self._loop is not here:
            self._loop = here
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEPT_SECONDS),
                headers={
                    "User-Agent": f"holdfast/{__version__}",
                    "Content-Type": "application/json",
                    "Accept-Encoding": "identity",
                    **self._to.headers,
                },
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session


class _Waiting:
    """How long is still waited, and for what."""

    def __init__(self, scope: anyio.CancelScope, patience: Patience, now: float) -> None:
        """For the first byte, from now on."""
        self._scope = scope
        self._patience = patience
        self._has_begun = False
        self._seconds = patience.first_byte
        self._end = now + patience.whole
        scope.deadline = min(now + self._seconds, self._end)

    def for_next(self) -> None:
        self._has_begun = True
        self._wait(self._patience.idle)

    def for_what_may_follow(self) -> None:
        """The reply is there; what it cost may still come, and that it ends."""
        self._has_begun = True
        self._wait(min(_GRACE_SECONDS, self._patience.idle))

    def for_a_reason(self) -> None:
        """It has its own, shorter limit: a refusal is one, whether or not it says why."""
        self._scope.deadline = math.inf

    def told(self) -> str:
        if anyio.current_time() >= self._end:
            return (
                f"the model's provider was not done with its reply within {self._patience.whole:g}"
                " s; raise reply_seconds if it needs longer"
            )
        if self._has_begun:
            return (
                f"the model's provider said nothing for {self._seconds:g} s inside of a reply;"
                " raise idle_seconds if it needs longer"
            )
        return (
            f"the model's provider said nothing within {self._seconds:g} s;"
            " check base_url, or raise first_byte_seconds"
        )

    def _wait(self, seconds: float) -> None:
        self._seconds = seconds
        self._scope.deadline = min(anyio.current_time() + seconds, self._end)


class _Pieces:
    """The body of one reply: a stream of events, or one JSON document, by what it begins with."""

    def __init__(self, reading: Taking, waiting: _Waiting, most_bytes: int) -> None:
        self._reading = reading
        self._waiting = waiting
        self._most = most_bytes
        self._events = EventStream()
        self._document: list[bytes] = []
        self._take: Callable[[bytes], None] = self._begin

    @property
    def is_enough(self) -> bool:
        """Whether it is a reply, also where nothing further comes."""
        if self._take == self._of_document:
            return is_whole(b"".join(self._document))
        return self._reading.is_done or (self._reading.may_end and not self._events.is_open)

    async def read(self, response: aiohttp.ClientResponse) -> None:
        """All that there is. When the reply is there, nothing can go wrong with it any more."""
        received = 0
        while piece := await self._next(response):
            received += len(piece)
            self._take(piece)
            if self._reading.is_done:
                await _run_out(response)
                return
            if received > self._most:
                if self.is_enough:
                    return
                raise malformed(f"sent more than {self._most:,} bytes in one reply")

    def end(self) -> None:
        """Hand over what is left when nothing further comes; ModelError."""
        if self._reading.is_done:
            return
        if self._take == self._of_stream:
            for said in self._events.end():
                self._reading.event(said)
        else:
            self._reading.whole(b"".join(self._document))

    async def _next(self, response: aiohttp.ClientResponse) -> bytes:
        """The next piece, empty behind the last one. Whoever reads may fail for other reasons."""
        try:
            return await response.content.readany()
        except (aiohttp.ClientError, OSError) as problem:
            if self.is_enough:
                return b""
            raise unreached(problem, response.url) from None

    def _begin(self, piece: bytes) -> None:
        self._document.append(piece)
        seen = piece.lstrip(_SPACE)[:1]
        if not seen:
            return
        if seen == b"<":
            raise malformed("answered with a page instead of a reply")
        if seen == b"{":
            self._take = self._of_document
            self._most = min(self._most, MOST_DOCUMENT_BYTES)
            self._waiting.for_next()
            return
        self._take = self._of_stream
        self._of_stream(b"".join(self._document))

    def _of_document(self, piece: bytes) -> None:
        self._document.append(piece)
        self._waiting.for_next()

    def _of_stream(self, piece: bytes) -> None:
        """Only what says something is a reason to wait on: signs of life can go on for ever."""
        has_said = False
        for said in self._events.feed(piece):
            has_said = has_said or bool(said)
            self._reading.event(said)
            if self._reading.is_done:
                return
        if has_said and self._reading.may_end:
            self._waiting.for_what_may_follow()
        elif has_said:
            self._waiting.for_next()


async def _run_out(response: aiohttp.ClientResponse) -> None:
    """Read to the end of a body whose reply is there: then the connection can be used again. It is
    not worth much time, and no error."""
    if response.content.at_eof():
        return
    rest = 0
    try:
        with anyio.move_on_after(_LAST_SECONDS):
            while rest <= _MOST_REST_BYTES and (piece := await response.content.readany()):
                rest += len(piece)
    except (aiohttp.ClientError, OSError):
        pass
    if not response.content.at_eof():
        response.close()


def unreached(problem: Exception, url: URL) -> ModelError:
    """Why there was no reply, and what to check."""
    where = f"{url.host}:{url.port}"
    if isinstance(problem, aiohttp.ClientConnectorDNSError):
        told = f"there is no host {url.host}; check base_url and this machine's network"
    elif isinstance(problem, aiohttp.ClientConnectorCertificateError):
        told = f"the certificate of {where} is not trusted here; check base_url"
    elif isinstance(problem, aiohttp.ClientProxyConnectionError):
        told = f"the proxy {problem.host}:{problem.port} cannot be reached; check proxy"
    elif isinstance(problem, aiohttp.ClientHttpProxyError):
        told = f"the proxy does not let through to {where} (it answered {problem.status})"
        return ModelError("bad_request", f"{told}; check proxy")
    elif isinstance(problem, aiohttp.ClientConnectorError):
        number = problem.os_error.errno
        said = os.strerror(number) if number else "no connection"
        told = f"{where} cannot be reached ({said}); check base_url and whether a server runs there"
    elif isinstance(problem, aiohttp.ClientResponseError | aiohttp.InvalidURL):
        return malformed(f"at {where} sent what is no HTTP")
    else:
        told = f"{where} closed the connection before the reply was complete; nothing of it counts"
    return ModelError("connection", told)
