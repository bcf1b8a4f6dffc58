"""The journal as a port: sessions as ordered events that many may read and one may run.

A lease fences who runs a session, by an epoch that only grows: what a runner of an older epoch
appends is refused. People need no lease. Values and a protocol; stores are in `record`.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from holdfast.contract.events import Event, Payload
from holdfast.contract.session_state import SessionState

MOST_EVENTS = 1000
"""How many events a page has at most, unless more are asked for."""


class JournalError(Exception):
    """The journal could not do it, and says why and what to do."""


class UnknownSession(JournalError):
    """There is no session of this id."""

    @classmethod
    def named(cls, session_id: str) -> "UnknownSession":
        """The one that says which, and what to do."""
        return cls(f"there is no session {session_id}; see: holdfast sessions")


class StaleEpoch(JournalError):
    """Somebody else runs the session by now: nothing more may be appended under this lease."""


class NotFitting(JournalError):
    """An answer nobody waits for, or a step of a call out of its order: nothing was kept."""


class JournalUnavailable(JournalError):
    """The store cannot be written or read: full, damaged, read-only or gone."""


class JournalUnusable(JournalUnavailable):
    """It stays so until a person does what it says: trying again does not help."""


class TooNew(JournalUnusable):
    """A newer holdfast wrote it: that one can go on with it, this one cannot."""


class LeaseHeld(JournalError):
    """Somebody runs the session, and is not late."""

    def __init__(self, told: str, lease: "Lease") -> None:
        super().__init__(told)
        self.lease = lease


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """Leave to run a session until a moment."""

    session_id: str
    holder: str
    epoch: int
    until_micros: int


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session stands."""

    id: str
    created_at: datetime
    updated_at: datetime
    sequence: int
    """The number of its last event."""
    hash: bytes
    epoch: int
    state: SessionState
    lease: Lease | None = None
    """Who runs it, or did not give the right back."""


class EventQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which events of a session to read: a stretch of it, and of that the last ones that fit.

    ``around`` wins over ``after`` and ``before``. An id that is not there bounds nothing.
    """

    after: str | None = None
    before: str | None = None
    around: str | None = None
    before_limit: int = 10
    """How many events before ``around``."""
    after_limit: int = 10
    types: tuple[str, ...] = ()
    wake_id: str | None = None
    processed: bool | None = None
    limit: int = MOST_EVENTS


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
        ids: Sequence[str] | None = None,
    ) -> tuple[Event, ...]:
        """Append, all or none; what does not fit is refused by NotFitting.

        With an epoch, only while it is the newest one: StaleEpoch. With ids of one's own, an event
        whose id is there already is left out: it can be tried again.
        """
        ...

    async def events(
        self, session_id: str, /, *, after: int = 0, limit: int = MOST_EVENTS
    ) -> tuple[Event, ...]:
        """The events behind a number, in order."""
        ...

    async def find(self, session_id: str, query: EventQuery, /) -> tuple[Event, ...]:
        """The events that fit, in order."""
        ...

    async def session(self, session_id: str, /) -> Session:
        """Where a session stands; UnknownSession."""
        ...

    async def due(self, before_micros: int, /, *, limit: int) -> tuple[Session, ...]:
        """The sessions that have to be run by then, the most urgent first, then by their ids.

        Where very many are due, the order is that of those which have been due for longest.
        """
        ...

    async def next_due(self) -> int | None:
        """When the first session has to be run, in microseconds since 1970; None: not for now."""
        ...

    async def lease(self, session_id: str, holder: str, seconds: float, /) -> Lease:
        """Take the right to run it, under a new epoch; LeaseHeld while another has it."""
        ...

    async def take_over(self, lost: Lease, holder: str, seconds: float, /) -> Lease:
        """Take it from somebody who is known to be gone; LeaseHeld when another was faster."""
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
