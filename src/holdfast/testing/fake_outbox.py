"""A journal in memory that remembers what was told of it, for whoever tests who tells."""

from collections.abc import Collection, Mapping, Sequence

from holdfast.contract.events import Event, Payload
from holdfast.contract.journal import Session, UnknownSession
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.session_state import due_micros, urgency
from holdfast.testing.fake_journal import FakeJournal

_ALL = 1_000_000


class FakeOutbox(FakeJournal):
    """Its own outbox: what changes when a session is due leaves it untold."""

    def __init__(self, clock: Clock | None = None, ids: IdSource | None = None) -> None:
        super().__init__(clock, ids)
        self._told: dict[str, int] = {}

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
        """Append, and forget what was told if it is due at another moment."""
        before = await self._due_of(session_id)
        events = await super().append(session_id, payloads, epoch=epoch, wake_id=wake_id, ids=ids)
        if await self._due_of(session_id) != before:
            self._told.pop(session_id, None)
        return events

    async def untold(
        self, now_micros: int, before_micros: int, /, *, limit: int
    ) -> tuple[Session, ...]:
        """Those that are due by ``before_micros`` and were not told, the most urgent first."""
        found = [
            one
            for one in await self._left(now_micros, before_micros)
            if self._told.get(one.id) is None
        ]
        found.sort(key=lambda one: (due_micros(one.state) or 0, one.id))
        return tuple(
            sorted(found[:limit], key=lambda one: (urgency(one.state, now_micros), one.id))
        )

    async def told(self, sessions: Sequence[Session], /) -> None:
        """These were told, as they stood."""
        now = await self.standing([one.id for one in sessions])
        for one in sessions:
            due, kept = due_micros(one.state), now.get(one.id)
            if kept is None or due is None or due_micros(kept.state) != due:
                self._told.pop(one.id, None)
            elif kept.sequence == one.sequence:
                self._told[one.id] = due

    async def overdue(
        self, now_micros: int, before_micros: int, /, *, after: str, limit: int
    ) -> tuple[Session, ...]:
        """Those that were told and are still due, in the order of their ids."""
        found = [
            one
            for one in await self._left(now_micros, before_micros)
            if one.id in self._told and one.id > after
        ]
        return tuple(sorted(found, key=lambda one: one.id)[:limit])

    async def standing(self, session_ids: Collection[str], /) -> Mapping[str, Session]:
        """Where these stand, those that there are."""
        found: dict[str, Session] = {}
        for session_id in session_ids:
            try:
                found[session_id] = await self.session(session_id)
            except UnknownSession:
                continue
        return found

    async def _left(self, now_micros: int, before_micros: int) -> list[Session]:
        """Those that are due, and that nobody runs."""
        return [
            one
            for one in await self.due(before_micros, limit=_ALL)
            if one.lease is None or one.lease.until_micros <= now_micros
        ]

    async def _due_of(self, session_id: str) -> int | None:
        found = await self.standing([session_id])
        return due_micros(found[session_id].state) if found else None
