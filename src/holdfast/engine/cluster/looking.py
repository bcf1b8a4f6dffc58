"""Where sessions stand, for many who ask at the same time: they share one question to the store.

And whether it can be asked: when it answered last, and when it does again.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress

from anyio import CancelScope, Event, Lock, sleep

from holdfast.contract.journal import JournalError, JournalUnavailable, Session
from holdfast.contract.outbox import Outbox
from holdfast.contract.ports import Clock

_FIRST_SECONDS = 0.1
_MOST_SECONDS = 0.5
"""A store that is away is asked so seldom, by each worker."""


class _Round:
    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.over = Event()
        self.found: Mapping[str, Session] = {}
        self.problem: JournalError | None = JournalUnavailable("nobody came to ask the store")


class Looks:
    """At the sessions of one store."""

    def __init__(self, outbox: Outbox, clock: Clock, silent_seconds: float = 5.0) -> None:
        """``silent_seconds``: how long an answer may take before nothing else is begun."""
        self._outbox = outbox
        self._clock = clock
        self.answered = clock.ticks()
        """When what it answered last was asked, in ticks of the clock."""
        self._feels = False
        self._asked: int | None = None
        """When it was asked what it has not answered yet."""
        self._silent = int(silent_seconds * 1_000_000_000)
        self._asking = Lock()
        self._next: _Round | None = None

    async def at(self, session_id: str) -> Session | None:
        """Where it stands, not before this was asked; None: it is gone. JournalError."""
        asked = self._next
        if asked is not None:
            asked.ids.add(session_id)
            await asked.over.wait()
        else:
            asked = self._next = _Round()
            asked.ids.add(session_id)
            await self._ask(asked)
        if asked.problem is not None:
            raise asked.problem
        return asked.found.get(session_id)

    @property
    def is_silent(self) -> bool:
        """Whether an answer takes too long."""
        return self._asked is not None and self._clock.ticks() - self._asked > self._silent

    async def feel(self, session_id: str) -> None:
        """See whether the store answers, unless that is under way."""
        if self._feels:
            return
        self._feels = True
        try:
            with suppress(JournalError):
                await self.at(session_id)
        finally:
            self._feels = False

    async def until_it_answers(self, rest_seconds: float) -> None:
        """Leave the store alone for so long, then ask, now and then, until it answers."""
        await sleep(rest_seconds)
        pause = _FIRST_SECONDS
        while True:
            await sleep(pause)
            try:
                await self.at("")
            except JournalError:
                pause = min(2 * pause, _MOST_SECONDS)
            else:
                return

    async def _ask(self, asked: _Round) -> None:
        """For all who join until the one before has its answer."""
        try:
            async with self._asking:
                self._next = None
                self._asked = ticks = self._clock.ticks()
                try:
                    asked.found = await self._outbox.standing(asked.ids)
                finally:
                    self._asked = None
            self.answered = ticks
            asked.problem = None
        except JournalError as problem:
            asked.problem = problem
        finally:
            if self._next is asked:
                self._next = None
            asked.over.set()


class Away:
    """Tenants whose stores cannot be used at the moment."""

    def __init__(self, looks: Mapping[str, Looks], changed: Callable[[], None]) -> None:
        """``looks``: of each tenant; ``changed``: one of them is there again."""
        self._looks = looks
        self._changed = changed
        self._waiting: dict[str, CancelScope] = {}
        self._is_open = True

    @property
    def tenants(self) -> Collection[str]:
        """Which those are: whose stores fail, or say nothing."""
        return {*self._waiting, *(name for name, one in self._looks.items() if one.is_silent)}

    def open(self) -> None:
        """Wait for stores, until `stop`."""
        self._is_open = True

    def stop(self) -> None:
        """Wait for none of them any more."""
        self._is_open = False
        for scope in self._waiting.values():
            scope.cancel()

    async def wait(self, tenant: str, rest_seconds: float) -> None:
        """Until its store can be used, and at least for so long; at once where that is under way
        already."""
        if tenant in self._waiting or not self._is_open:
            return
        with CancelScope() as scope:
            self._waiting[tenant] = scope
            await self._looks[tenant].until_it_answers(rest_seconds)
        del self._waiting[tenant]
        self._changed()
