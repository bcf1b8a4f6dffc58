"""What others say to a session that runs here, for whoever watches it here; and what became of its
calls while it was taken up.

What the run itself writes is told to it; a number that is left out says that somebody else wrote
something. Only then is the journal read.
"""

from collections.abc import Callable

from holdfast.app.agent_work import OpenAgent
from holdfast.app.telling import Told
from holdfast.contract.events import Event, UserInterrupt, UserMessage
from holdfast.contract.journal import EventQuery, Journal

_WORDS = ("user.message", "user.interrupt")
_MOST = 100


class Overheard:
    """Finds what a run is not told."""

    def __init__(self, opened: OpenAgent, stopped_here: Callable[[], bool]) -> None:
        """``stopped_here``: whether it was the person here who interrupted."""
        self._session_id = opened.session.id
        self._log = opened.holdfast.parts.log
        self._stopped_here = stopped_here
        self._sequence: int | None = None
        self._shown: set[int] = set()

    async def waiting(self) -> list[Event]:
        """What was said while nobody ran the session."""
        journal = await self._journal()
        if journal is None:
            return []
        query = EventQuery(types=_WORDS, processed=False, limit=_MOST)
        return self._new(await journal.find(self._session_id, query))

    async def calls(self) -> tuple[Event, ...]:
        """The last calls, as they were asked for: some may have no end yet."""
        journal = await self._journal()
        if journal is None:
            return ()
        query = EventQuery(types=("call.asked",), limit=_MOST)
        return await journal.find(self._session_id, query)

    async def since(self, sequence: int) -> list[Event]:
        """What was written down behind an event: taking a session up ends calls."""
        journal = await self._journal()
        if journal is None:
            return []
        found = await journal.events(self._session_id, after=sequence)
        new = [one for one in found if one.sequence not in self._shown]
        self._shown.update(one.sequence for one in new)
        return new

    async def before(self, told: Told) -> list[Event]:
        """What others said before this was told."""
        if not isinstance(told, Event):
            return []
        last, self._sequence = self._sequence, max(told.sequence, self._sequence or 0)
        missing = 0 if last is None else told.sequence - last - 1
        journal = await self._journal() if missing > 0 else None
        if last is None or journal is None:
            return []
        found = await journal.events(self._session_id, after=last, limit=missing)
        return self._new(found)

    def is_known(self, told: Told) -> bool:
        """Whether it was shown already."""
        return isinstance(told, Event) and told.sequence in self._shown

    def _new(self, found: tuple[Event, ...]) -> list[Event]:
        new = [one for one in found if self._is_of_others(one) and one.sequence not in self._shown]
        self._shown.update(one.sequence for one in new)
        return new

    def _is_of_others(self, event: Event) -> bool:
        if isinstance(event.payload, UserInterrupt):
            return not self._stopped_here()
        return isinstance(event.payload, UserMessage)

    async def _journal(self) -> Journal | None:
        return None if self._log is None else await self._log.journal()
