"""A session's journal as its runner writes it: begun with the first event, fenced by a lease.

The journal is opened, and the session begun, when there is something to write. Who runs a session
renews its right to do so on the way.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence

from anyio import Lock

from holdfast.contract.events import Event, Payload, SessionClosed, SessionCreated, StatusChanged
from holdfast.contract.journal import Journal, JournalError, JournalUnavailable, Lease, LeaseHeld
from holdfast.contract.ports import Clock

_log = logging.getLogger("holdfast")

LEASE_SECONDS = 600.0
TAKEN_UP = "taken up"
"""Why a session that was closed is not closed any more."""


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
        """``holder``: a name that nobody else has, so that a lease of this name is ours."""
        self._opening = opening
        self._created = created
        self._session_id = session_id
        self._holder = holder
        self._clock = clock
        self._lock = Lock()
        self._journal: Journal | None = None
        self._lease: Lease | None = None
        self._renew_at = 0
        self._closed = False
        self._taken_up = self._reopened = self._was_begun = False
        self._begin_in_doubt = self._lease_in_doubt = False
        """It was asked for, and nobody has heard what became of it."""

    @property
    def session_id(self) -> str:
        """Whose journal it is."""
        return self._session_id

    def open(self) -> None:
        """Write again, after it was closed."""
        self._closed = False

    async def append(self, payloads: Sequence[Payload]) -> tuple[Event, ...]:
        """Append as the one who runs the session; JournalError."""
        journal, lease = self._journal, self._lease
        if journal is None or lease is None or self._clock.unix_ns() > self._renew_at:
            journal, lease = await self._running()
        return await journal.append(self._session_id, payloads, epoch=lease.epoch)

    async def journal(self) -> Journal:
        """The journal, with the session in it."""
        if self._journal is None or self._lease is None:
            return (await self._running())[0]
        return self._journal

    async def take_up(
        self, is_gone: Callable[[str], bool], lives: Callable[[str], bool] | None = None
    ) -> tuple[Journal, int]:
        """Go on with a session that was begun before: the journal, and the epoch to run under.

        LeaseHeld, unless whoever has the lease is gone, or is late and not known to live.
        """
        async with self._lock:
            self._taken_up = self._was_begun = True
            if self._journal is None:
                self._journal = await self._opening()
            held = (await self._journal.session(self._session_id)).lease
            if held is not None and lives is not None and lives(held.holder):
                raise LeaseHeld(f"session {self._session_id} is run by {held.holder}", held)
            lease = await self._resumed(self._journal, is_gone)
            return self._journal, lease.epoch

    async def close(self, *, ends: bool = True) -> None:
        """Let go of the journal; a session that was begun or opened again here has ended.

        Whoever still writes is refused: JournalUnavailable. ``ends``: False leaves it as it is, for
        whoever takes it up.
        """
        async with self._lock:
            self._closed = True
            journal, lease = self._journal, self._lease
            self._journal = self._lease = None
            if journal is None:
                return
            try:
                if lease is None and self._lease_in_doubt:
                    lease = await self._leased(journal, _nobody_is_gone)
                    self._lease = None
                if lease is not None:
                    await self._end(journal, lease, ends=ends)
            except JournalError as problem:
                # Whoever takes the session up next finds that nobody runs it.
                _log.warning(
                    "the end of session %s was not written down: %s", self._session_id, problem
                )
            finally:
                await journal.close()

    async def _end(self, journal: Journal, lease: Lease, *, ends: bool) -> None:
        if ends and (self._reopened or not self._taken_up):
            closed = SessionClosed(reason="closed")
            await journal.append(self._session_id, [closed], epoch=lease.epoch)
        await journal.release(lease)

    async def _running(self) -> tuple[Journal, Lease]:
        """What is missing for running the session, one after the other, once for everybody."""
        async with self._lock:
            if self._closed:
                raise JournalUnavailable(f"session {self._session_id} was closed meanwhile")
            if self._journal is None:
                self._journal = await self._opening()
            lease = self._lease or await self._new_lease(self._journal)
            if self._clock.unix_ns() > self._renew_at:
                lease = self._keep(await self._journal.renew(lease, LEASE_SECONDS))
            return self._journal, lease

    async def _new_lease(self, journal: Journal) -> Lease:
        if self._was_begun:
            return await self._resumed(journal, _nobody_is_gone)
        await self._begin(journal)
        return await self._leased(journal, _nobody_is_gone)

    async def _resumed(self, journal: Journal, is_gone: Callable[[str], bool]) -> Lease:
        """Take the right to run a session of before; one that was closed is open from here on."""
        lease = await self._leased(journal, is_gone)
        try:
            status = (await journal.session(self._session_id)).state.status
            if status == "terminated":
                self._reopened = True  # also if nobody hears whether it was written
                again = StatusChanged(from_status=status, to_status="idle", reason=TAKEN_UP)
                await journal.append(self._session_id, [again], epoch=lease.epoch)
        except BaseException:
            self._lease, self._lease_in_doubt = None, True  # whoever tries again begins here
            raise
        return lease

    async def _begin(self, journal: Journal) -> None:
        """Begin the session; an attempt before may have succeeded without our hearing of it."""
        tried_before, self._begin_in_doubt = self._begin_in_doubt, True
        try:
            await journal.create(self._session_id, [self._created])
        except JournalError as refusal:
            self._begin_in_doubt = isinstance(refusal, JournalUnavailable)
            if self._begin_in_doubt or not tried_before:
                raise
        self._was_begun = True

    async def _leased(self, journal: Journal, is_gone: Callable[[str], bool]) -> Lease:
        self._lease_in_doubt = True
        try:
            lease = await self._taken(journal, is_gone)
        except JournalError as refusal:
            self._lease_in_doubt = isinstance(refusal, JournalUnavailable)
            raise
        self._lease_in_doubt = False
        return self._keep(lease)

    async def _taken(self, journal: Journal, is_gone: Callable[[str], bool]) -> Lease:
        """Take the right to run it; we may have it already, without our having heard of it."""
        try:
            return await journal.lease(self._session_id, self._holder, LEASE_SECONDS)
        except LeaseHeld as held:
            holder = held.lease.holder
            if holder != self._holder and not is_gone(holder):
                raise
            return await journal.take_over(held.lease, self._holder, LEASE_SECONDS)

    def _keep(self, lease: Lease) -> Lease:
        self._lease = lease
        self._renew_at = self._clock.unix_ns() + int(LEASE_SECONDS * 5e8)
        return lease


def _nobody_is_gone(_holder: str) -> bool:
    return False
