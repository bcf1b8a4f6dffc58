"""Telling what is due: hints are sent for what a store says was not told, and that is noted.

What is due later becomes a hint that waits for its time. Whoever appends pokes; what nobody told is
found by looking. Who takes hints, and what is done then, is not known here.
"""

import logging
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import count
from secrets import token_hex

from anyio import CapacityLimiter, create_task_group, move_on_after

from holdfast.contract.journal import JournalError, Session
from holdfast.contract.ports import Clock
from holdfast.contract.session_state import due_micros
from holdfast.engine.cluster.door import LinkError
from holdfast.engine.cluster.hints import SECOND, Told, later_told, now_told
from holdfast.engine.cluster.link import Link
from holdfast.engine.cluster.streams import Streams
from holdfast.engine.cluster.subjects import UnusableName
from holdfast.engine.cluster.tenants import ClusterPace, Tenant
from holdfast.runtime.abort import Abort

_log = logging.getLogger("holdfast")

HORIZON_MICROS = 3600 * SECOND
"""What is due later than that is told when it comes near."""
_PAGE = 500
_MOST_ON_THE_WAY = 256
_FIRST_SECONDS = 1.0
_MOST_SECONDS = 2.0
"""Servers that are away are asked so seldom: no more often than servers that are there."""


class Announcer:
    """Tells what is due in the store of one tenant, until it is stopped."""

    def __init__(self, link: Link, tenant: Tenant, clock: Clock, pace: ClusterPace) -> None:
        self._link = link
        self._names = link.names
        self.streams = Streams(link.names, link.replicas)
        self._tenant = tenant
        self._clock = clock
        self._pace = pace
        self._asked: deque[str] = deque()
        """Sessions that somebody asked to look at."""
        self._poked = Abort()
        self._stopping = False
        self._on_the_way = CapacityLimiter(_MOST_ON_THE_WAY)
        self._who = token_hex(4)
        self._times = count(1)

    def poke(self, session_id: str, /) -> None:
        """Something may be due now: look at once. Safe to call from any thread."""
        self._asked.append(session_id)
        self._poked.set()

    def stop(self) -> None:
        """Begin nothing more."""
        self._stopping = True
        self._poked.set()

    async def run(self) -> None:
        """Tell what is due, as it becomes due, until `stop`."""
        pause, said = _FIRST_SECONDS, ""
        while not self._stopping:
            poked = self._poked = Abort()
            seconds = self._pace.look_seconds
            try:
                await self.tell_asked(await self.tell_untold())
                pause, said = _FIRST_SECONDS, ""
            except (JournalError, LinkError) as problem:
                seconds, pause = pause, min(2 * pause, _MOST_SECONDS)
                if said != str(problem):
                    _log.warning("what is due is not told: %s; trying again later", problem)
                said = str(problem)
            if not self._stopping:
                with move_on_after(seconds):
                    await poked.wait()

    async def tell_untold(self) -> frozenset[str]:
        """Tell what was not told yet; which those are. JournalError, LinkError."""
        told: frozenset[str] = frozenset()
        while True:
            now = self._now()
            found = await self._tenant.outbox.untold(now, now + HORIZON_MICROS, limit=_PAGE)
            await self.tell(found)
            told |= {one.id for one in found}
            if len(found) < _PAGE or self._stopping:
                return told

    async def tell(self, sessions: Sequence[Session]) -> None:
        """Tell of these as they stand, and note it. JournalError, LinkError."""
        now = self._now()
        await self._send(
            told for told in (self._told_of(one, now) for one in sessions) if told is not None
        )
        await self._tenant.outbox.told(sessions)

    async def tell_again(self, sessions: Iterable[Session]) -> None:
        """Tell of those that are due now, also where that was said before. LinkError."""
        now = self._now()
        by = f":{self._who}-{next(self._times)}"
        due = (self._told_of(one, now, by) for one in sessions if _is_due(one, now))
        await self._send(told for told in due if told is not None)

    async def tell_asked(self, told: frozenset[str]) -> None:
        """Tell once more of those that somebody asked for, unless somebody runs them now.

        ``told``: those that were told at this moment. JournalError, LinkError.
        """
        asked = {self._asked.popleft() for _ in range(len(self._asked))} - told
        if not asked:
            return
        try:
            found = (await self._tenant.outbox.standing(asked)).values()
            now = self._now()
            await self.tell_again(one for one in found if not is_leased(one, now))
        except (JournalError, LinkError):
            self._asked.extend(asked)
            raise

    def _told_of(self, session: Session, now: int, by: str = "") -> Told | None:
        """None: nothing is to be said of it, or nothing can."""
        due = due_micros(session.state)
        if due is None:
            return None
        try:
            if due <= now:
                return now_told(self._names, self._tenant.name, session, now, by)
            return later_told(self._names, self._tenant.name, session, due)
        except UnusableName as problem:
            _log.warning("session %s cannot be told of: %s", session.id, problem)
            return None

    async def _send(self, messages: Iterable[Told]) -> None:
        await self._link.have(self.streams)
        failed: list[LinkError] = []

        async def send(message: Told) -> None:
            async with self._on_the_way:
                try:
                    if not failed:
                        await self._link.tell(message.subject, message.body, message.headers)
                except LinkError as problem:
                    failed.append(problem)

        async with create_task_group() as group:
            for message in messages:
                group.start_soon(send, message)
        if failed:
            raise failed[0]

    def _now(self) -> int:
        return self._clock.unix_ns() // 1000


def is_leased(session: Session, now_micros: int) -> bool:
    """Whether somebody runs it, and is not late."""
    return session.lease is not None and session.lease.until_micros > now_micros


def _is_due(session: Session, now_micros: int) -> bool:
    due = due_micros(session.state)
    return due is not None and due <= now_micros
