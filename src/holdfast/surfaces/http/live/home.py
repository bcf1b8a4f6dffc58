"""The sessions of the whole home as they change: which are new, other, or wait for somebody.

All of them are looked through once; from then on only those that were active last are asked for.
What is shown of a session, and to whom, is not known here.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

import msgspec
from anyio import Event, Lock, move_on_after, sleep

from holdfast.app.session_store import runner_of
from holdfast.contract.archive import Archive, SessionQuery
from holdfast.contract.journal import JournalError, Session
from holdfast.contract.ports import Clock
from holdfast.contract.session_state import Runner
from holdfast.runtime.abort import Abort
from holdfast.surfaces.http.live.pulse import Pulse
from holdfast.surfaces.http.rows import NOTHING_WAITS, Waits, waits_of

LOOK_SECONDS = 0.5
QUIET_SECONDS = 15.0
_SOON_SECONDS = 0.02
"""What this process wrote is looked at once, however much it was."""
_PATIENCE = 20
_FIRST_LOOK = 100
_ALL = 2**31


class Change(msgspec.Struct, frozen=True):
    """What became other."""

    sessions: tuple[Session, ...]
    gone: tuple[str, ...]


class _Mark(NamedTuple):
    """How a session stands: its end, and whether somebody runs it."""

    sequence: int
    updated_at: datetime
    runner: Runner


class _Onlooker:
    def __init__(self) -> None:
        self.changed: dict[str, Session] = {}
        self.gone: set[str] = set()
        self.woken = Event()

    def end(self) -> None:
        """Nothing comes any more."""
        self.woken.set()


class Home:
    """Used on one event loop."""

    def __init__(self, archive: Archive, pulse: Pulse, clock: Clock) -> None:
        self._archive = archive
        self._pulse = pulse
        self._clock = clock
        self._known: dict[str, _Mark] = {}
        """How each session stood when it was last seen."""
        self._waiting: dict[str, Waits] = {}
        self._looked_at = -1
        self._looking = Lock()
        self._onlookers: set[_Onlooker] = set()
        self._somebody = Event()
        self._new = Event()
        pulse.watch_all(self._hear)

    async def waiting(self) -> Sequence[str]:
        """The sessions in which something waits for a person or an application; JournalError."""
        await self._look()
        return tuple(self._waiting)

    async def waits(self) -> Sequence[Waits]:
        """How much waits in each of them; JournalError."""
        await self._look()
        return tuple(self._waiting.values())

    def forget(self, session_id: str) -> None:
        """It was taken away."""
        self._tell((), (session_id,))

    async def changes(self, leaving: Abort) -> AsyncGenerator[Change | None]:
        """What becomes other behind the first None; another one: nothing did for a while.

        Until the server ends.
        """
        with suppress(JournalError):  # what is so by now is nobody's news
            await self._look()
        mine = _Onlooker()
        unsubscribe = leaving.subscribe(mine.end)
        self._onlookers.add(mine)
        self._somebody.set()
        try:
            yield None
            while not leaving.aborted:
                with move_on_after(QUIET_SECONDS):
                    await mine.woken.wait()
                if leaving.aborted:
                    return
                if not mine.woken.is_set():
                    yield None
                    continue
                mine.woken = Event()
                change = Change(tuple(mine.changed.values()), tuple(mine.gone))
                mine.changed, mine.gone = {}, set()
                yield change
        finally:
            unsubscribe()
            self._onlookers.discard(mine)

    async def run(self) -> None:
        """Look for what becomes other as long as somebody looks on, until this is cancelled."""
        while True:
            if not self._onlookers:
                self._somebody = Event()
                await self._somebody.wait()
            began = self._clock.ticks()
            with suppress(JournalError):  # whoever asks for a session is told why
                await self._look()
            took = (self._clock.ticks() - began) / 1e9
            with move_on_after(max(LOOK_SECONDS, took * _PATIENCE)):
                await self._new.wait()
                await sleep(_SOON_SECONDS)
            self._new = Event()

    def _hear(self, _session_id: str) -> None:
        self._new.set()

    async def _look(self) -> None:
        async with self._looking:
            limit = _FIRST_LOOK if self._looked_at >= 0 else _ALL
            while True:
                found = await self._archive.sessions(SessionQuery(limit=limit))
                changed = [one for one in found if self._known.get(one.id) != self._mark(one)]
                if len(found) < limit or len(changed) < len(found):
                    break
                limit *= 10  # everything that was looked at is new: there may be more
            oldest = found[-1].updated_at if len(found) >= limit else None
            gone = self._missing(found, oldest)
            self._looked_at = self._clock.ticks()
            self._tell(changed, gone)

    def _missing(self, found: Sequence[Session], oldest: datetime | None) -> list[str]:
        """Sessions that would be among these, and are not any more. None: these are all."""
        there = {one.id for one in found}
        return [
            name
            for name, mark in self._known.items()
            if name not in there and (oldest is None or mark.updated_at > oldest)
        ]

    def _mark(self, session: Session) -> "_Mark":
        return _Mark(session.sequence, session.updated_at, runner_of(session.lease, self._clock))

    def _tell(self, changed: Sequence[Session], gone: Sequence[str]) -> None:
        for one in changed:
            self._known[one.id] = self._mark(one)
            found = waits_of(one.state)
            if found != NOTHING_WAITS:
                self._waiting[one.id] = found
            else:
                self._waiting.pop(one.id, None)
        for name in gone:
            self._known.pop(name, None)
            self._waiting.pop(name, None)
        if not (changed or gone):
            return
        for onlooker in self._onlookers:
            onlooker.changed.update({one.id: one for one in changed})
            onlooker.gone.update(gone)
            onlooker.woken.set()
