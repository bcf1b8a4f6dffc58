"""A connection to NATS as we use it.

A lost connection is made again for ever; meanwhile, what is said waits, and what is asked fails
when its time is over.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from anyio import CancelScope, fail_after, move_on_after
from nats.aio.msg import Msg
from nats.errors import Error, NoRespondersError

from holdfast.engine.cluster.door import Denied, Ends, Heard, Hears, LinkError, NatsServers
from holdfast.engine.cluster.guarded import DENIED, GuardedNats, said_for_good, told_in_lines
from holdfast.engine.cluster.identity import check_user, has_bare_seed, tls_of, wants_tls

_log = logging.getLogger("holdfast")

CONNECT_SECONDS = 10.0
_ONE_CONNECT_SECONDS = 3
_RECONNECT_SECONDS = 0.25
_PING_SECONDS = 5
"""A server that stands still is noticed after two unanswered ones."""
_CLOSE_SECONDS = 3.0
_GONE = (Error, OSError, TimeoutError)
_NOWHERE = (
    "no NATS server can be reached ({}); start one, or correct servers, user and certificates of"
    " [cluster]"
)


async def connect(servers: NatsServers, came_back: Callable[[], None]) -> "NatsClient":
    """Connect; LinkError where no server answers."""
    client = NatsClient(came_back)
    await client.connect(servers)
    return client


class NatsClient:
    """One connection."""

    def __init__(self, came_back: Callable[[], None]) -> None:
        self._came_back = came_back
        self._nats = GuardedNats()
        self._problem = ""
        self._tries_left = 0
        """How many more servers may say no for good before that is believed; 0: it is connected."""
        self._is_closing = False
        self._asking: dict[str, set[CancelScope]] = {}
        """What is asked now, by subject as a server complains of it."""
        self._complained: set[str] = set()

    async def connect(self, servers: NatsServers) -> None:
        """For the first time; LinkError."""
        self._tries_left = len(servers.servers)
        try:
            check_user(servers)
            options = self._options(servers)
            with told_in_lines(), fail_after(CONNECT_SECONDS):
                await self._nats.connect(**options)
        except LinkError:
            await self._leave()
            raise
        except ImportError as problem:
            await self._leave()
            raise LinkError(
                f"a credentials file needs a package more ({problem});"
                " install it with: pip install 'holdfast[cluster]'"
            ) from None
        except (*_GONE, ValueError) as problem:
            await self._leave()
            told = self._problem or _words(problem)
            raise LinkError(_NOWHERE.format(told)) from None
        except BaseException:
            self._nats.forget_transport()
            raise
        finally:
            self._tries_left = 0

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
        """Ask, and wait for the answer; LinkError, Denied."""
        scope = CancelScope()
        asking = self._asking.setdefault(subject.lower(), set())
        asking.add(scope)
        try:
            with scope:
                found = await self._nats.request(
                    subject, body, timeout=seconds, headers={**headers} or None
                )
                return _heard(found)
        except NoRespondersError:
            raise LinkError(f"nobody answers at {subject}") from None
        except _GONE as problem:
            raise _said(problem) from None
        finally:
            asking.discard(scope)
            if not asking:
                self._asking.pop(subject.lower(), None)
        raise Denied(f"NATS does not let this machine publish to {subject}; let its user do so")

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
        try:
            with suppress(*_GONE), move_on_after(_CLOSE_SECONDS):
                await self._nats.flush()
        finally:
            with suppress(*_GONE), move_on_after(_CLOSE_SECONDS, shield=True):
                await self._nats.close()
            self._nats.forget_transport()

    async def _leave(self) -> None:
        """It was never open: nothing is lost."""
        self._is_closing = True
        self._nats.forget_transport()
        with suppress(Exception), move_on_after(_CLOSE_SECONDS, shield=True):
            await self._nats.close()

    def _options(self, servers: NatsServers) -> dict[str, Any]:
        self._nats.only_tls = wants_tls(servers)
        self._nats.credentials_file = file = servers.credentials_file
        is_bare = file is not None and has_bare_seed(file)
        return {
            "servers": list(servers.servers),
            "name": servers.name,
            "user": servers.user,
            "password": servers.password,
            "user_credentials": None if is_bare else file,
            "nkeys_seed": file if is_bare else None,
            "tls": tls_of(servers),
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
        denied = DENIED.search(str(problem))
        if denied is not None:
            self._on_denial(denied[1], denied[2])
            return
        told = said_for_good(problem)
        if told is None:
            self._problem = _words(problem)
        elif self._tries_left > 0:
            self._tries_left -= 1
            if self._tries_left == 0:
                raise LinkError(told)
        elif not self._is_closing:
            self._complain(told, told)

    def _on_denial(self, what: str, subject: str) -> None:
        asking = self._asking.get(subject, ())
        for scope in asking:
            scope.cancel()
        if asking:
            return  # whoever asked says so
        kind = ".".join(subject.split(".")[:4])
        doing = "publish" if what == "publish" else "subscribe"
        told = f"NATS does not let this machine {doing} to {subject}; let its user do so"
        self._complain(f"{doing} {kind}", told)

    def _complain(self, about: str, told: str) -> None:
        """Once: it would be said again with every try."""
        if about not in self._complained:
            self._complained.add(about)
            _log.warning("%s", told if told.isprintable() else ascii(told))

    async def _on_loss(self) -> None:
        if self._is_closing:
            return
        _log.warning("the connection to NATS is lost; it is made again as soon as that can be")

    async def _on_return(self) -> None:
        _log.warning("the connection to NATS is there again")
        self._complained.clear()
        self._came_back()


def _heard(message: Msg) -> Heard:
    headers = {_name(name): str(value) for name, value in (message.headers or {}).items()}
    return Heard(message.subject, message.data, message.reply, headers)


def _name(header: object) -> str:
    return str(getattr(header, "value", header))


def _said(problem: Exception) -> LinkError:
    return LinkError(f"NATS did not answer ({_words(problem)})")


def _words(problem: Exception) -> str:
    """What it says: names of servers, and never a password."""
    if isinstance(problem, TimeoutError):
        return "there was no answer in time"
    return str(problem) or type(problem).__name__
