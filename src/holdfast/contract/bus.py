"""A bus between processes: bytes to a subject, for whoever listens there at that moment.

Nothing is kept: what nobody hears is lost, and so is what is said while a connection is down. What
one process says to one subject is heard in its order. Who may say and hear anything at all is
decided by whoever runs the bus.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

Heard = Callable[[str, bytes], None]
"""Told the subject and what was said there, on the event loop that listens. Never waits."""


class BusUnavailable(Exception):
    """It cannot be said, or listened to, now; says why."""


class Listening(Protocol):
    """Somebody who listens."""

    async def close(self) -> None:
        """Listen no longer; harmless when the bus is gone."""
        ...


class Bus(Protocol):
    """A connection to a bus. Used on one event loop."""

    async def publish(self, subject: str, data: bytes, /, *, unheard: str | None = None) -> None:
        """Say something, up to 64 KiB; BusUnavailable. ``unheard``: where an empty message is said
        if nobody listens to the subject now."""
        ...

    async def subscribe(self, subject: str, heard: Heard, /) -> Listening:
        """Hear what is said from here on: by whoever is told so on this bus, at least, as it may
        take others a moment to know. BusUnavailable. ``*`` stands for one word of a subject."""
        ...


class OpenedBus(NamedTuple):
    """A bus, and how to leave it."""

    bus: Bus
    close: Callable[[], Awaitable[None]]
    """Leave it: once, and not always in the task that opened it."""


class BusPlace(NamedTuple):
    """Where processes of other machines are reached."""

    name: str
    """What makes two of them the same bus."""
    namespace: str
    """What the subjects of everybody who works together begin with."""
    opened: Callable[[], Awaitable[OpenedBus]]
    """Join it; BusUnavailable."""
