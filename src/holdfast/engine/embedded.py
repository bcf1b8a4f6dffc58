"""The engine of one process: runs what is due, as many sessions at once as it may.

What is due is known to the journal alone, so that nothing is lost with the process, and others may
run engines beside this one: who runs a session is decided by its lease. A session is run once at a
time here. One that stays due although it was run is left alone for longer and longer. What happens
in a run is not known here.
"""

import logging
from collections import deque

import msgspec
from anyio import Event, create_task_group, move_on_after
from anyio.abc import TaskGroup

from holdfast.contract.journal import Journal, JournalError, UnknownSession
from holdfast.contract.ports import Clock
from holdfast.contract.wakes import WakeEnd, WakeRunner
from holdfast.engine.resting import (
    FIRST_SECONDS,
    MOST_SECONDS,
    MOST_SECONDS_OF_OTHERS,
    Causes,
    Resting,
    causes_of,
)
from holdfast.runtime.abort import Abort

_log = logging.getLogger("holdfast")


class EnginePace(msgspec.Struct, frozen=True, kw_only=True):
    """How much an engine does at once, and how often it looks whether there is something to do."""

    concurrency: int = 8
    look_seconds: float = 0.5
    """What other processes write is found by looking."""


PACE = EnginePace()
_MOST_DOUBLINGS = 10
"""Of the pause after looks in vain: it has long come to its most by then."""


class EmbeddedEngine:
    """Runs sessions on the event loop that it is run on. Once stopped, it is over."""

    def __init__(
        self, journal: Journal, runner: WakeRunner, clock: Clock, pace: EnginePace = PACE
    ) -> None:
        self._journal = journal
        self._runner = runner
        self._clock = clock
        self._pace = pace
        self._running: dict[str, Causes] = {}
        """Sessions that are run here, and why."""
        self._resting = Resting()
        self._asked: deque[str] = deque()
        """Sessions that somebody asked to look at."""
        self._poked = Abort()
        self._stopping = False
        self._executed = 0
        self._one_ended: Event | None = None

    async def run(self) -> None:
        """Run what is due, as it becomes due, until `stop`."""
        in_vain = 0
        async with create_task_group() as group:
            while not self._stopping:
                poked = self._poked = Abort()
                try:
                    seconds = await self._begin_due(group)
                    in_vain = 0
                except JournalError as problem:
                    seconds = min(FIRST_SECONDS * 2**in_vain, MOST_SECONDS)
                    in_vain = min(in_vain + 1, _MOST_DOUBLINGS)
                    _log.warning("what is due is not known: %s; looking again later", problem)
                if not self._stopping:
                    with move_on_after(seconds):
                        await poked.wait()

    async def run_until_idle(self) -> int:
        """Run what is due now and whatever that makes due at once; how many wakes were executed.

        What stays due although it was run is not waited for; JournalError.
        """
        before = self._executed
        unread: JournalError | None = None
        async with create_task_group() as group:
            while unread is None and not self._stopping:
                ended = self._next_end()
                try:
                    await self._begin_due(group)
                except JournalError as problem:
                    unread = problem  # what runs goes on to its end
                if not self._running:
                    break
                await ended.wait()
        if unread is not None:
            raise unread
        return self._executed - before

    def poke(self, session_id: str, /) -> None:
        """Something may be due now: look at once. Safe to call from any thread."""
        self._asked.append(session_id)
        self._poked.set()

    async def stop(self) -> None:
        """Begin nothing more, and wait for what runs."""
        self._stopping = True
        self._poked.set()
        while self._running:
            await self._next_end().wait()

    async def _begin_due(self, group: TaskGroup) -> float:
        """Begin the most urgent that there is room for; how long there is nothing else to do."""
        while self._asked:
            self._resting.cut_short((self._asked.popleft(),))
        most, look = self._pace.concurrency, self._pace.look_seconds
        now, ticks = self._clock.unix_ns() // 1000, self._clock.ticks()
        if len(self._running) >= most:
            return look
        first = await self._journal.next_due()
        if first is None or first > now:
            return look if first is None else min(look, (first - now) / 1_000_000)
        self._resting.forget_old(ticks)
        known = len(self._running) + len(self._resting)
        for session in await self._journal.due(now, limit=most + known):
            if self._stopping or len(self._running) >= most:
                break
            causes = causes_of(session.state, now)
            resting = self._resting.is_left_alone(session.id, causes, ticks)
            if session.id not in self._running and not resting:
                self._running[session.id] = causes
                group.start_soon(self._wake, session.id, causes)
        return min(look, self._resting.next_seconds(ticks))

    async def _wake(self, session_id: str, causes: Causes) -> None:
        try:
            end = await self._run_once(session_id)
            self._executed += end.executed
            await self._note(end, causes)
        finally:
            del self._running[session_id]
            if self._one_ended is not None:
                self._one_ended.set()
            self._poked.set()

    async def _run_once(self, session_id: str) -> WakeEnd:
        try:
            return await self._runner(session_id)
        except Exception as problem:  # noqa: BLE001 - no run of one session must end all others
            _log.exception("the run of session %s failed", session_id)
            told = f"{type(problem).__name__}: {problem}"
            return WakeEnd(session_id=session_id, executed=True, ended="failed", problem=told)

    async def _note(self, end: WakeEnd, causes: Causes) -> None:
        """Leave alone what is due for the same reasons as before."""
        left = await self._causes_left(end.session_id, causes) & causes
        if not left:
            self._resting.end(end.session_id)
            return
        others = end.reason == "lease_contended"
        most = MOST_SECONDS_OF_OTHERS if others else MOST_SECONDS
        self._resting.begin(end.session_id, left, self._clock.ticks(), most)

    async def _causes_left(self, session_id: str, before: Causes) -> Causes:
        now = self._clock.unix_ns() // 1000
        try:
            return causes_of((await self._journal.session(session_id)).state, now)
        except UnknownSession:
            return frozenset()
        except JournalError:
            return before

    def _next_end(self) -> Event:
        """Set once a run has ended."""
        if self._one_ended is None or self._one_ended.is_set():
            self._one_ended = Event()
        return self._one_ended
