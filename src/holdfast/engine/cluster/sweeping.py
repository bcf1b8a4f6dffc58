"""The slow look at what was told and is still due: told again where no hint of it is left.

Hints are lost only with the servers' disks, or with a worker between two steps; so this is seldom
needed, and takes a page at a time. A session that is given up stays so, until something happened
in it since.
"""

import logging

from anyio import move_on_after

from holdfast.contract.journal import (
    JournalError,
    JournalUnusable,
    Session,
    UnknownSession,
)
from holdfast.contract.ports import Clock
from holdfast.engine.cluster.announcing import Announcer
from holdfast.engine.cluster.dead import Dead
from holdfast.engine.cluster.door import LinkError
from holdfast.engine.cluster.hints import SECOND, due_in
from holdfast.engine.cluster.link import Link
from holdfast.engine.cluster.subjects import UnusableName
from holdfast.engine.cluster.tenants import ClusterPace, Tenant
from holdfast.runtime.abort import Abort

_log = logging.getLogger("holdfast")
PAGE = 200
"""Sessions that one look takes."""


class Sweeper:
    """Sweeps the store of one tenant, until it is stopped."""

    def __init__(self, link: Link, tenant: Tenant, announcer: Announcer, clock: Clock) -> None:
        self._link = link
        self._names = link.names
        self._tenant = tenant
        self._announcer = announcer
        self._clock = clock
        self._dead = Dead(link)
        self._stopped = Abort()
        self._after = ""
        self._dead_after = 0

    def stop(self) -> None:
        """Begin nothing more."""
        self._stopped.set()

    async def run(self, pace: ClusterPace) -> None:
        """Look every now and then, until `stop`."""
        while not self._stopped.aborted:
            with move_on_after(pace.sweep_seconds):
                await self._stopped.wait()
            if self._stopped.aborted:
                return
            try:
                await self.sweep(pace.sweep_seconds)
            except (JournalError, LinkError) as problem:
                _log.warning("what is long due is not told again: %s", problem)

    async def sweep(self, old_seconds: float) -> int:
        """Look at the next page; how many were told again. JournalError, LinkError."""
        now = self._clock.unix_ns() // 1000
        old = now - int(old_seconds * SECOND)
        found = await self._tenant.outbox.overdue(now, old, after=self._after, limit=PAGE)
        self._after = found[-1].id if len(found) == PAGE else ""
        lost = [one for one in found if await self._is_lost(one, now)]
        await self._announcer.tell_again(lost)
        await self._tidy_dead()
        return len(lost)

    async def _tidy_dead(self) -> None:
        """Those that went on by something new, or were taken away, are no longer given up."""
        name = self._tenant.name
        dead, self._dead_after = await self._dead.some(name, self._dead_after, PAGE)
        found = await self._tenant.outbox.standing([one.session for one in dead])
        for one in dead:
            session = found.get(one.session)
            went_on = session is not None and session.sequence != one.sequence
            if went_on or (session is None and await self._is_gone(one.session)):
                await self._dead.forget(name, one.session)

    async def _is_gone(self, session_id: str) -> bool:
        """Whether there is none, and not only one that cannot be read here."""
        try:
            await self._tenant.journal.session(session_id)
        except UnknownSession:
            return True
        except JournalUnusable:
            return False
        return False

    async def _is_lost(self, session: Session, now: int) -> bool:
        """Whether nothing is left that would have it run."""
        name = self._tenant.name
        try:
            wakes = self._names.any_wake(name, session.id)
        except UnusableName:
            return False  # nobody can tell of it, which was said
        if await self._link.last(self._names.wakes, wakes) is not None:
            return False
        later = await self._link.last(self._names.wakes, self._names.later(name, session.id))
        if later is not None and due_in(later.data) <= now:
            return False
        # Else it says that it is due some other time: whoever told that was too slow, or the store
        # was put back.
        given_up = await self._dead.of(name, session.id)
        if given_up is None:
            return True
        if given_up.sequence == session.sequence:
            return False
        await self._dead.forget(name, session.id)
        return True
