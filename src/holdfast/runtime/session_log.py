"""A session's journal as its runner writes it: begun with the first event, fenced by a lease.

The journal is opened, and the session begun, when there is something to write. Who runs a session
renews its right to do so on the way.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence

from anyio import Lock

from holdfast.contract.events import Event, Payload, SessionClosed, SessionCreated
from holdfast.contract.journal import Journal, JournalError, JournalUnavailable, Lease, LeaseHeld
from holdfast.contract.ports import Clock

_log = logging.getLogger("holdfast")

LEASE_SECONDS = 600.0


class SessionLog:
    """Appends to one session. Used on one event loop."""

    def __init__(
        self,
        opening: Callable[[], Awaitable[Journal]],
        created: SessionCreated,
        session_id: str,
        holder: str,
        clock: Clock,
    ) -> None:
        self._opening = opening
        self._created = created
        self._session_id = session_id
        self._holder = holder
        self._clock = clock
        self._lock = Lock()
        self._journal: Journal | None = None
        self._lease: Lease | None = None
        self._renew_at = 0
        self._taken_up = False
        self._was_begun = self._tried_to_begin = self._tried_to_lease = False

    async def append(self, payloads: Sequence[Payload]) -> tuple[Event, ...]:
        """Append as the one who runs the session; JournalError."""
        journal = self._journal
        if journal is None or self._lease is None:
            journal = await self._begun()
        if self._clock.unix_ns() > self._renew_at:
            await self._renewed(journal)
        epoch = None if self._lease is None else self._lease.epoch
        return await journal.append(self._session_id, payloads, epoch=epoch)

    async def journal(self) -> Journal:
        """The journal, with the session in it."""
        return self._journal or await self._begun()

    async def take_up(self, is_gone: Callable[[str], bool]) -> tuple[Journal, int]:
        """Go on with a session that was begun before: the journal, and the epoch to run under.

        LeaseHeld, unless whoever has the lease is gone.
        """
        async with self._lock:
            journal = self._journal or await self._opening()
            self._journal, self._taken_up = journal, True
            try:
                lease = await journal.lease(self._session_id, self._holder, LEASE_SECONDS)
            except LeaseHeld as held:
                if not is_gone(held.lease.holder):
                    raise
                lease = await journal.take_over(held.lease, self._holder, LEASE_SECONDS)
            self._keep(lease)
            return journal, lease.epoch

    async def close(self) -> None:
        """Let go of the journal; a session that was begun here has ended."""
        journal, lease = self._journal, self._lease
        self._journal = self._lease = None
        if journal is None:
            return
        try:
            if lease is not None:
                if not self._taken_up:
                    closed = SessionClosed(reason="closed")
                    await journal.append(self._session_id, [closed], epoch=lease.epoch)
                await journal.release(lease)
        except JournalError as problem:
            # Whoever takes the session up next finds that nobody runs it.
            _log.warning(
                "the end of session %s was not written down: %s", self._session_id, problem
            )
        finally:
            await journal.close()

    async def _begun(self) -> Journal:
        async with self._lock:
            if self._journal is None:
                self._journal = await self._opening()
            if self._lease is None:
                if not self._was_begun:
                    await self._begin(self._journal)
                await self._renewed(self._journal)
            return self._journal

    async def _begin(self, journal: Journal) -> None:
        """Begin the session; an attempt before may have succeeded without our hearing of it."""
        tried_before, self._tried_to_begin = self._tried_to_begin, True
        try:
            await journal.create(self._session_id, [self._created])
        except JournalUnavailable:
            raise
        except JournalError:
            if not tried_before:
                raise
        self._was_begun = True

    async def _leased(self, journal: Journal) -> Lease:
        """The same is true of the lease."""
        tried_before, self._tried_to_lease = self._tried_to_lease, True
        try:
            return await journal.lease(self._session_id, self._holder, LEASE_SECONDS)
        except LeaseHeld as held:
            if not tried_before or held.lease.holder != self._holder:
                raise
            return await journal.take_over(held.lease, self._holder, LEASE_SECONDS)

    async def _renewed(self, journal: Journal) -> None:
        if self._lease is None:
            lease = await self._leased(journal)
        else:
            lease = await journal.renew(self._lease, LEASE_SECONDS)
        self._keep(lease)

    def _keep(self, lease: Lease) -> None:
        self._lease = lease
        self._renew_at = self._clock.unix_ns() + int(LEASE_SECONDS * 5e8)
