"""The client of NATS as we use it: the one module that knows it.

A lost connection is made again for ever; meanwhile, what is said waits, and what is asked fails
when its time is over.
"""

import logging
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from anyio import fail_after
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg
from nats.errors import Error, NoRespondersError

from holdfast.engine.cluster.door import Ends, Heard, Hears, LinkError, NatsServers

_log = logging.getLogger("holdfast")

CONNECT_SECONDS = 10.0
_ONE_CONNECT_SECONDS = 3
_RECONNECT_SECONDS = 0.25
_PING_SECONDS = 5
"""A server that stands still is noticed after two unanswered ones."""
_CLOSE_SECONDS = 3.0
_REFUSED = "uthorization"
_GONE = (Error, OSError, TimeoutError)


async def connect(servers: NatsServers, came_back: Callable[[], None]) -> "NatsClient":
    """Connect; LinkError where no server answers."""
    client = NatsClient(came_back)
    await client.connect(servers)
    return client


class NatsClient:
    """One connection."""

    def __init__(self, came_back: Callable[[], None]) -> None:
        self._came_back = came_back
        self._nats = Nats()
        self._problem = ""
        self._is_closing = False

    async def connect(self, servers: NatsServers) -> None:
        """For the first time; LinkError."""
        try:
            with fail_after(CONNECT_SECONDS):
                await self._nats.connect(**self._options(servers))
        except ImportError as problem:
            raise LinkError(
                f"a credentials file needs a package more ({problem});"
                " install it with: pip install 'nats-py[nkeys]'"
            ) from None
        except (*_GONE, ValueError) as problem:
            with suppress(Exception):  # it was never open: nothing is lost
                await self._nats.close()
            told = self._problem or str(problem) or "it did not answer"
            raise LinkError(
                f"no NATS server can be reached ({told}); start one, or correct servers, user"
                " and certificates of [nats]"
            ) from None

    @property
    def is_connected(self) -> bool:
        """Whether what is sent now goes out now."""
        return self._nats.is_connected

    def inbox(self) -> str:
        """A subject that nobody else has, for answers."""
        return self._nats.new_inbox()

    async def request(
        self, subject: str, body: bytes, headers: Mapping[str, str], seconds: float, /
    ) -> Heard:
        """Ask, and wait for the answer; LinkError."""
        try:
            found = await self._nats.request(
                subject, body, timeout=seconds, headers={**headers} or None
            )
        except NoRespondersError:
            raise LinkError(f"nobody answers at {subject}") from None
        except _GONE as problem:
            raise _said(problem) from None
        return _heard(found)

    async def publish(
        self, subject: str, body: bytes = b"", /, *, reply: str = "", headers: Mapping[str, str]
    ) -> None:
        """Say it; LinkError where not even that can be done."""
        try:
            await self._nats.publish(subject, body, reply=reply, headers={**headers} or None)
        except _GONE as problem:
            raise _said(problem) from None

    async def subscribe(self, subject: str, hears: Hears, /) -> Ends:
        """Have each message told, until what is returned is called; LinkError."""

        async def told(message: Msg) -> None:
            hears(_heard(message))

        try:
            subscription = await self._nats.subscribe(  # pyright: ignore[reportUnknownMemberType] - a parameter that we do not use
                subject, cb=told
            )
        except _GONE as problem:
            raise _said(problem) from None

        async def end() -> None:
            with suppress(*_GONE):
                await subscription.unsubscribe()

        return end

    async def close(self) -> None:
        """Say what was to be said, and go."""
        self._is_closing = True
        with suppress(*_GONE):
            with fail_after(_CLOSE_SECONDS):
                await self._nats.flush()
        with suppress(*_GONE):
            await self._nats.close()

    def _options(self, servers: NatsServers) -> dict[str, Any]:
        return {
            "servers": list(servers.servers),
            "name": servers.name,
            "user": servers.user,
            "password": servers.password,
            "user_credentials": servers.credentials_file,
            "tls": _tls(servers),
            "inbox_prefix": f"{servers.namespace}.inbox",
            "connect_timeout": _ONE_CONNECT_SECONDS,
            "reconnect_time_wait": _RECONNECT_SECONDS,
            "max_reconnect_attempts": -1,
            "ping_interval": _PING_SECONDS,
            "max_outstanding_pings": 2,
            "error_cb": self._on_error,
            "disconnected_cb": self._on_loss,
            "reconnected_cb": self._on_return,
        }

    async def _on_error(self, problem: Exception) -> None:
        # That it is not let in says more than the connection that ends behind it.
        if _REFUSED not in self._problem:
            self._problem = _words(problem)

    async def _on_loss(self) -> None:
        if self._is_closing:
            return
        _log.warning("the connection to NATS is lost; it is made again as soon as that can be")

    async def _on_return(self) -> None:
        _log.warning("the connection to NATS is there again")
        self._came_back()


def _tls(servers: NatsServers) -> ssl.SSLContext | None:
    if servers.ca_file is None and servers.cert_file is None:
        return None
    context = ssl.create_default_context(cafile=servers.ca_file)
    if servers.cert_file is not None:
        context.load_cert_chain(servers.cert_file, servers.key_file)
    return context


def _heard(message: Msg) -> Heard:
    headers = {_name(name): str(value) for name, value in (message.headers or {}).items()}
    return Heard(message.subject, message.data, message.reply, headers)


def _name(header: object) -> str:
    return str(getattr(header, "value", header))


def _said(problem: Exception) -> LinkError:
    return LinkError(f"NATS did not answer ({_words(problem)})")


def _words(problem: Exception) -> str:
    """What it says: names of servers, and never a password."""
    return str(problem) or type(problem).__name__
