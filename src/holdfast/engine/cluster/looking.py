"""Where sessions stand, for many who ask at the same time: they share one question to the store."""

from collections.abc import Mapping

from anyio import Event, Lock

from holdfast.contract.journal import JournalError, JournalUnavailable, Session
from holdfast.contract.outbox import Outbox


class _Round:
    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.over = Event()
        self.found: Mapping[str, Session] = {}
        self.problem: JournalError | None = JournalUnavailable("nobody came to ask the store")


class Looks:
    """At the sessions of one store."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
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

    async def _ask(self, asked: _Round) -> None:
        """For all who join until the one before has its answer."""
        try:
            async with self._asking:
                self._next = None
                asked.found = await self._outbox.standing(asked.ids)
            asked.problem = None
        except JournalError as problem:
            asked.problem = problem
        finally:
            if self._next is asked:
                self._next = None
            asked.over.set()
