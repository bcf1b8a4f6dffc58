"""Where sessions stand, for many who ask at the same time: they share one question to the store.

And whether it can be asked: when it answered last, and when it does again.
"""

from collections.abc import Mapping

from anyio import Event, Lock, sleep

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

    def __init__(self, outbox: Outbox, clock: Clock) -> None:
        self._outbox = outbox
        self._clock = clock
        self.answered = clock.ticks()
        """When what it answered last was asked, in ticks of the clock."""
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

    async def until_it_answers(self) -> None:
        """Ask, now and then, until the store answers."""
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
                ticks = self._clock.ticks()
                asked.found = await self._outbox.standing(asked.ids)
            self.answered = ticks
            asked.problem = None
        except JournalError as problem:
            asked.problem = problem
        finally:
            if self._next is asked:
                self._next = None
            asked.over.set()
