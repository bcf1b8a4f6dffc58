"""A session's journal as its runner writes it: begun with the first event, fenced by a lease.

The journal is opened, and the session begun, when there is something to write. Who runs a session
renews its right to do so on the way.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from anyio import Lock, sleep

from holdfast.contract.events import Event, Payload, SessionClosed, SessionCreated, StatusChanged
from holdfast.contract.journal import (
    Journal,
    JournalError,
    JournalUnavailable,
    Lease,
    LeaseHeld,
    NotFitting,
)
from holdfast.contract.ports import Clock
from holdfast.runtime.held_lease import PLAIN_TIMES, HeldLease, LeaseTimes

_log = logging.getLogger("holdfast")

TAKEN_UP = "taken up"
"""Why a session that was closed is not closed any more."""


Listener: TypeAlias = Callable[[Event], None]
"""Hears of an event that was written."""


class SessionLog:
    """Appends to one session. Used on one event loop."""

    def __init__(
        self,
        opening: Callable[[], Awaitable[Journal]],
        created: SessionCreated,
        session_id: str,
        holder: str,
        clock: Clock,
        times: LeaseTimes = PLAIN_TIMES,
    ) -> None:
        """``holder``: a name that nobody else has, so that a lease of this name is ours."""
        self._opening = opening
        self._created = created
        self.session_id = session_id
        """Whose journal it is."""
        self.right = HeldLease(session_id, holder, clock, times)
        """To run it."""
        self._lock = Lock()
        self._journal: Journal | None = None
        self._closed = False
        self._taken_up = self._reopened = self._was_begun = False
        self._begin_in_doubt = False
        """It was asked for, and nobody has heard what became of it."""
        self.wake_id: str | None = None
        """The run that events belong to."""
        self.listeners: list[Listener] = []
        """Each is told of everything that is appended here, until it fails; not of how the session
        itself begins and ends."""
        self._failed: list[Listener] = []
        self._held: list[Payload] = []
        """What is written down with whatever comes next, before it."""

    def open(self) -> None:
        """Write again, after it was closed."""
        self._closed = False

    def hold(self, payloads: Sequence[Payload]) -> None:
        """Write these down with what is appended next, before it: that is about to come.

        For what may be lost together with whatever follows from it, as nothing has happened yet.
        """
        self._held += payloads

    async def append(
        self, payloads: Sequence[Payload], *, in_run: bool = True
    ) -> tuple[Event, ...]:
        """Append as the one who runs the session; JournalError.

        ``in_run``: not what was found of the session beside its run, which belongs to none.
        """
        run = self.wake_id
        if not in_run:
            return await self._append(payloads, None)
        if not self._held:
            return await self._append(payloads, run)
        held, self._held = self._held, []
        try:
            events = await self._append([*held, *payloads], run)
        except NotFitting:  # all or none: what was held is not to blame
            await self._append(held, run)
            return await self._append(payloads, run)
        except JournalError:
            self._held = held + self._held
            raise
        return events[len(held) :]

    async def flush(self) -> None:
        """Write down what is held, if anything is; JournalError."""
        if self._held:
            await self.append(())

    async def _append(self, payloads: Sequence[Payload], run: str | None) -> tuple[Event, ...]:
        journal, right = self._journal, self.right
        lease = right.lease
        if journal is None or lease is None or right.is_due:
            journal, lease = await self._running()
        events = await journal.append(self.session_id, payloads, epoch=lease.epoch, wake_id=run)
        if self.listeners:
            self._tell(events)
        if right.has_run_out:
            # It took so long that another one may have the session by now: nothing that this stands
            # before may begin.
            await self.heartbeat()
        return events

    async def begin_run(self) -> None:
        """A run begins: a right to it that ran out meanwhile is taken anew; LeaseHeld.

        Whoever had the session in between is done with it, and what they wrote is in the journal.
        """
        if self.right.has_run_out:
            async with self._lock:
                if self.right.has_run_out:
                    self.right.lease = None

    async def heartbeat(self) -> None:
        """Keep the right to run it, where it is held; StaleEpoch when it was lost."""
        async with self._lock:
            lease = self.right.lease
            if self._journal is not None and lease is not None:
                await self.right.renew(self._journal, lease)

    async def beating(self) -> JournalError:
        """Renew it again and again, as long as that is possible; then why it is not.

        A store that cannot be reached is tried until the lease is over.
        """
        while True:
            await sleep(self.right.times.heartbeat_seconds)
            try:
                await self.heartbeat()
            except JournalUnavailable as problem:
                if self.right.lease is None or self.right.has_run_out:
                    return problem
            except JournalError as problem:
                return problem

    async def journal(self) -> Journal:
        """The journal, with the session in it."""
        if self._journal is None or self.right.lease is None:
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
            held = (await self._journal.session(self.session_id)).lease
            if held is not None and lives is not None and lives(held.holder):
                raise LeaseHeld(f"session {self.session_id} is run by {held.holder}", held)
            lease = await self._resumed(self._journal, is_gone)
            return self._journal, lease.epoch

    async def close(self, *, ends: bool = True) -> None:
        """Let go of the journal; a session that was begun or opened again here has ended.

        Whoever still writes is refused: JournalUnavailable. ``ends``: False leaves it as it is, for
        whoever takes it up.
        """
        async with self._lock:
            self._closed = True
            journal, lease = self._journal, self.right.lease
            self._journal = self.right.lease = None
            if journal is None:
                return
            try:
                if lease is None and self.right.in_doubt:
                    lease = await self.right.take(journal, _nobody_is_gone)
                    self.right.lease = None
                if lease is not None:
                    if ends and (self._reopened or not self._taken_up):
                        closed = SessionClosed(reason="closed")
                        await journal.append(self.session_id, [closed], epoch=lease.epoch)
                    await journal.release(lease)
            except JournalError as problem:
                # Whoever takes the session up next finds that nobody runs it.
                _log.warning(
                    "the end of session %s was not written down: %s", self.session_id, problem
                )
            finally:
                await journal.close()

    def _tell(self, events: tuple[Event, ...]) -> None:
        for listener in tuple(self.listeners):
            if self._failed and listener in self._failed:
                continue
            try:
                for event in events:
                    listener(event)
            except Exception:  # noqa: BLE001 - whoever listens must not break what is written
                self._failed.append(listener)
                _log.exception("a listener of session %s failed", self.session_id)

    async def _running(self) -> tuple[Journal, Lease]:
        """What is missing for running the session, one after the other, once for everybody."""
        async with self._lock:
            if self._closed:
                raise JournalUnavailable(f"session {self.session_id} was closed meanwhile")
            if self._journal is None:
                self._journal = await self._opening()
            lease = self.right.lease
            if lease is None and self._was_begun:
                lease = await self._resumed(self._journal, _nobody_is_gone)
            elif lease is None:
                await self._begin(self._journal)
                lease = await self.right.take(self._journal, _nobody_is_gone)
            if self.right.is_due:
                lease = await self.right.renew(self._journal, lease)
            return self._journal, lease

    async def _resumed(self, journal: Journal, is_gone: Callable[[str], bool]) -> Lease:
        """Take the right to run a session of before; one that was closed is open from here on."""
        lease = await self.right.take(journal, is_gone)
        try:
            status = (await journal.session(self.session_id)).state.status
            if status == "terminated":
                self._reopened = True  # also if nobody hears whether it was written
                again = StatusChanged(from_status=status, to_status="idle", reason=TAKEN_UP)
                await journal.append(self.session_id, [again], epoch=lease.epoch)
        except BaseException:
            self.right.doubt()
            raise
        return lease

    async def _begin(self, journal: Journal) -> None:
        """Begin the session; an attempt before may have succeeded without our hearing of it."""
        tried_before, self._begin_in_doubt = self._begin_in_doubt, True
        try:
            await journal.create(self.session_id, [self._created])
        except JournalError as refusal:
            self._begin_in_doubt = isinstance(refusal, JournalUnavailable)
            if self._begin_in_doubt or not tried_before:
                raise
        self._was_begun = True


def _nobody_is_gone(_holder: str) -> bool:
    return False
