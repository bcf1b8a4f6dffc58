"""The door to NATS: who speaks with it is loaded when it is opened, as its client is an extra.

Nobody else knows the client. What is told over it, and what that means, is not known here.
"""

from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Protocol

import msgspec


class LinkError(Exception):
    """NATS could not be told or asked, and what to do."""


class Denied(LinkError):
    """NATS does not let this machine say that."""


class NatsServers(msgspec.Struct, frozen=True, kw_only=True):
    """Where NATS is, and as whom one comes. Addresses may hold passwords: they are never shown."""

    servers: tuple[str, ...]
    """Of one cluster: any of them will do."""
    namespace: str = "holdfast"
    """Begins every subject: fleets that share servers have one each."""
    ca_file: str | None = None
    """Who vouches for the servers; with it, or with a certificate, only TLS is spoken."""
    cert_file: str | None = None
    key_file: str | None = None
    credentials_file: str | None = None
    user: str | None = None
    password: str | None = None
    name: str = "holdfast"
    """As the servers list it."""
    replicas: int = 1
    """How many servers keep each message."""

    def __repr__(self) -> str:
        """Without addresses, users and passwords."""
        return f"NatsServers(namespace={self.namespace!r}, ...)"


class Heard(msgspec.Struct, frozen=True):
    """A message that came."""

    subject: str
    body: bytes
    reply: str
    """Where an answer goes; empty: nobody waits for one."""
    headers: Mapping[str, str]


Hears = Callable[[Heard], None]
Ends = Callable[[], Awaitable[None]]


class Client(Protocol):
    """A connection that comes back by itself. All raise LinkError."""

    @property
    def is_connected(self) -> bool:
        """Whether what is sent now goes out now."""
        ...

    def inbox(self) -> str:
        """A subject that nobody else has, for answers."""
        ...

    async def request(
        self, subject: str, body: bytes, headers: Mapping[str, str], seconds: float, /
    ) -> Heard:
        """Ask, and wait for the answer."""
        ...

    async def publish(
        self, subject: str, body: bytes = b"", /, *, reply: str = "", headers: Mapping[str, str]
    ) -> None:
        """Say it; whether anybody heard it is not known."""
        ...

    async def subscribe(self, subject: str, hears: Hears, /) -> Ends:
        """Have each message told, until what is returned is called."""
        ...

    async def close(self) -> None:
        """Say what was to be said, and go."""
        ...


def load(module: str) -> ModuleType:
    """A module of this package; LinkError where the client is not installed."""
    try:
        return import_module(f"holdfast.engine.cluster.{module}")
    except ImportError as problem:
        raise LinkError(
            f"a cluster needs a package more ({problem});"
            " install it with: pip install 'holdfast[cluster]'"
        ) from None


async def connected(servers: NatsServers, came_back: Callable[[], None]) -> Client:
    """Connect; LinkError where no server answers. ``came_back``: after each loss, on this loop."""
    client: Client = await load("client").connect(servers, came_back)
    return client
