"""Pruning: which sessions go, and what crashes left; first said, then done, one session at a time.

A session leaves the journal as a whole before its folder does: whenever this is stopped, what is
left are whole sessions, and the next time finds the rest.
"""

import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from anyio import to_thread

from holdfast.app.holders import may_run
from holdfast.contract.archive import SessionQuery
from holdfast.contract.journal import JournalError, Session
from holdfast.contract.ports import Clock
from holdfast.contract.upkeep import Swept, Weight
from holdfast.execution.session_folders import LostFolder, SessionFolders
from holdfast.record.codec import micros_of
from holdfast.record.retention import Going, Limits, StoredSession, may_go, need_of
from holdfast.record.store import Store

YOUNGEST_SECONDS = 24 * 60 * 60
"""A folder of no known session is left alone until nothing in it is younger."""
_ALL = SessionQuery(limit=sys.maxsize)
_NOTHING = Weight(bytes=0, waits=False)


class Plan(NamedTuple):
    """What would be removed."""

    going: tuple[Going, ...]
    needed: tuple[StoredSession, ...]
    """Sessions that stay because somebody needs them."""
    staying: int
    """How many stay, those included."""
    lost: tuple[LostFolder, ...]
    swept: Swept


class Pruned(NamedTuple):
    """What was removed."""

    sessions: tuple[Going, ...]
    left: tuple[tuple[str, str], ...]
    """Sessions that went on meanwhile, and what was said of it."""
    folders: tuple[LostFolder, ...]
    swept: Swept

    @property
    def bytes(self) -> int:
        """All together."""
        sessions = sum(one.session.bytes for one in self.sessions)
        return sessions + sum(one.bytes for one in self.folders) + self.swept.bytes


class Pruning:
    """Looks at a store and the folders beside it, and removes what may go."""

    def __init__(self, store: Store, folders: SessionFolders, clock: Clock) -> None:
        self._store = store
        self._folders = folders
        self._clock = clock
        self._seen: dict[str, Session] = {}

    async def plan(self, limits: Limits) -> Plan:
        """What may go now; nothing is changed."""
        self._seen = {one.id: one for one in await self._store.archive.sessions(_ALL)}
        weights = await self._store.upkeep.weights()
        stored = await to_thread.run_sync(self._stored, weights)
        going = may_go(stored, limits)
        return Plan(
            going=going,
            needed=tuple(one for one in stored if one.need is not None),
            staying=len(stored) - len(going),
            lost=await to_thread.run_sync(self._lost),
            swept=await self._store.upkeep.sweep(dry=True),
        )

    async def carry_out(self, plan: Plan, tell: Callable[[Going], None]) -> Pruned:
        """Remove what was planned; what went on meanwhile is left alone."""
        gone: list[Going] = []
        left: list[tuple[str, str]] = []
        for one in plan.going:
            session_id = one.session.id
            try:
                await self._store.archive.delete(session_id, seen=self._seen[session_id])
            except JournalError as problem:
                left.append((session_id, str(problem)))
                continue
            await to_thread.run_sync(self._folders.remove, session_id)
            gone.append(one)
            tell(one)
        folders = await to_thread.run_sync(self._without, plan.lost)
        swept = await self._store.upkeep.sweep(dry=False)
        return Pruned(tuple(gone), tuple(left), folders, swept)

    def _stored(self, weights: Mapping[str, Weight]) -> list[StoredSession]:
        now = self._clock.unix_ns() // 1000
        return [self._facts(one, weights.get(one.id, _NOTHING), now) for one in self._seen.values()]

    def _facts(self, session: Session, weight: Weight, now: int) -> StoredSession:
        lease = session.lease
        held = lease is not None and may_run(lease.holder, late=lease.until_micros <= now)
        used = self._folders.is_used(session.id)
        return StoredSession(
            id=session.id,
            parent_id=session.state.parent_id,
            active_at=micros_of(session.updated_at),
            bytes=weight.bytes + self._folders.bytes_of(session.id),
            need=need_of(session, held=held, in_use=used, waits=weight.waits),
        )

    def _lost(self) -> tuple[LostFolder, ...]:
        return self._folders.lost(self._seen, self._clock.unix_ns() / 1e9 - YOUNGEST_SECONDS)

    def _without(self, lost: tuple[LostFolder, ...]) -> tuple[LostFolder, ...]:
        return tuple(one for one in lost if self._folders.remove_lost(one))
