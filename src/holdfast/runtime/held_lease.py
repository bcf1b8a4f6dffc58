"""The right to run one session, as whoever has it keeps it: taken, renewed, run out, in doubt.

It knows the journal's leases, and nothing of what is written under them.
"""

from collections.abc import Callable

import msgspec

from holdfast.contract.journal import (
    Journal,
    JournalError,
    JournalUnavailable,
    Lease,
    LeaseHeld,
)
from holdfast.contract.ports import Clock

LEASE_SECONDS = 600.0

Kept = Callable[[int, float], None]


class LeaseTimes(msgspec.Struct, frozen=True, kw_only=True):
    """How long the right to run a session lasts, and after how long it is renewed."""

    lease_seconds: float = LEASE_SECONDS
    heartbeat_seconds: float = LEASE_SECONDS / 2


PLAIN_TIMES = LeaseTimes()
"""Of a session that a program runs by calling its tools, and may leave alone for long."""


class HeldLease:
    """A lease that is held, or may be."""

    def __init__(self, session_id: str, holder: str, clock: Clock, times: LeaseTimes) -> None:
        """``holder``: a name that nobody else has, so that a lease of this name is ours."""
        self._session_id = session_id
        self._holder = holder
        self._clock = clock
        self.times = times
        """How long it lasts."""
        self.lease: Lease | None = None
        """The one that is held."""
        self.asked_at = 0
        """When the one that is held was asked for, in ticks: it lasts from then on at least."""
        self.renew_at: int | None = None
        """From when on it has to be renewed, in ticks."""
        self.in_doubt = False
        """It was asked for, and nobody has heard what became of it."""
        self.kept: Kept | None = None
        """Told when it was asked for, in ticks, and how many seconds from then on it lasts."""

    @property
    def is_due(self) -> bool:
        """Whether it has to be renewed."""
        return self.renew_at is None or self._clock.ticks() > self.renew_at

    @property
    def has_run_out(self) -> bool:
        """Whether it was held, and its time is over."""
        lasted = self._clock.ticks() - self.asked_at
        return self.lease is not None and lasted > int(self.times.lease_seconds * 1e9)

    async def take(self, journal: Journal, is_gone: Callable[[str], bool]) -> Lease:
        """Take the right to run it; LeaseHeld, unless whoever has it is gone."""
        self.in_doubt = True
        asked = self._clock.ticks()
        try:
            lease = await self._taken(journal, is_gone)
        except JournalError as refusal:
            self.in_doubt = isinstance(refusal, JournalUnavailable)
            raise
        self.in_doubt = False
        return self._keep(lease, asked)

    async def renew(self, journal: Journal, lease: Lease) -> Lease:
        """Keep it for longer; StaleEpoch when it was lost."""
        asked = self._clock.ticks()
        return self._keep(await journal.renew(lease, self.times.lease_seconds), asked)

    def doubt(self) -> None:
        """Hold nothing: whoever tries again begins with taking it."""
        self.lease, self.in_doubt = None, True

    async def _taken(self, journal: Journal, is_gone: Callable[[str], bool]) -> Lease:
        """Take it; we may have it already, without our having heard of it."""
        try:
            return await journal.lease(self._session_id, self._holder, self.times.lease_seconds)
        except LeaseHeld as held:
            holder = held.lease.holder
            if holder != self._holder and not is_gone(holder):
                raise
            return await journal.take_over(held.lease, self._holder, self.times.lease_seconds)

    def _keep(self, lease: Lease, asked: int) -> Lease:
        self.lease, self.asked_at = lease, asked
        if self.kept is not None:
            self.kept(asked, self.times.lease_seconds)
        self.renew_at = self._clock.ticks() + int(self.times.heartbeat_seconds * 1e9)
        return lease
