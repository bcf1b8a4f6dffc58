"""The journal as a port: sessions as ordered events that many may read and one may run.

A lease fences who runs a session, by an epoch that only grows: what a runner of an older epoch
appends is refused. People need no lease. Values and a protocol; stores are in `record`.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from holdfast.contract.events import Event, Payload


class JournalError(Exception):
    """The journal could not do it, and says why and what to do."""


class UnknownSession(JournalError):
    """There is no session of this id."""


class StaleEpoch(JournalError):
    """Somebody else runs the session by now: nothing more may be appended under this lease."""


class LeaseHeld(JournalError):
    """Somebody runs the session, and is not late."""


class JournalUnavailable(JournalError):
    """The store cannot be written or read: full, damaged, read-only or gone."""


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """Leave to run a session until a moment."""

    session_id: str
    holder: str
    epoch: int
    until_micros: int


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session stands."""

    session_id: str
    sequence: int
    hash: bytes
    epoch: int


class Journal(Protocol):
    """Keeps what happened. An append that returned survives whatever the durability promises."""

    async def create(self, session_id: str, payloads: Sequence[Payload], /) -> tuple[Event, ...]:
        """Begin a session with its first events; one that exists is a JournalError."""
        ...

    async def append(
        self,
        session_id: str,
        payloads: Sequence[Payload],
        /,
        *,
        epoch: int | None = None,
        wake_id: str | None = None,
    ) -> tuple[Event, ...]:
        """Append, all or none. With an epoch, only while it is the newest one: StaleEpoch."""
        ...

    async def events(
        self, session_id: str, /, *, after: int = 0, limit: int = 1000
    ) -> tuple[Event, ...]:
        """The events behind a place, in order."""
        ...

    async def head(self, session_id: str, /) -> Head:
        """Where a session stands; UnknownSession."""
        ...

    async def lease(self, session_id: str, holder: str, seconds: float, /) -> Lease:
        """Take the right to run it, under a new epoch; LeaseHeld while another has it."""
        ...

    async def renew(self, lease: Lease, seconds: float, /) -> Lease:
        """Keep it for longer; StaleEpoch when it was lost."""
        ...

    async def release(self, lease: Lease, /) -> None:
        """Give it back; harmless when it was lost."""
        ...

    async def close(self) -> None:
        """Wait for what was begun, and let go of the store."""
        ...
