"""Looking what is new, once for everybody who looks on.

What this process writes is told at once; what others write is found by asking for the ends of all
sessions that are looked at, together. What is done about it is not known here.
"""

from collections.abc import Callable

from anyio import Event, move_on_after

from holdfast.contract.archive import Archive
from holdfast.contract.journal import JournalError
from holdfast.contract.ports import Clock

LOOK_SECONDS = 0.2
_GONE = -1
"""The end of a session that was taken away."""
_PATIENCE = 20
"""So many times as long as looking took is waited: it must not become the main work."""


class Pulse:
    """Wakes those who look on at sessions in which something is new. Used on one event loop."""

    def __init__(self, archive: Archive, clock: Clock) -> None:
        self._archive = archive
        self._clock = clock
        self._looking: dict[str, dict[Callable[[], None], None]] = {}
        self._heads: dict[str, int] = {}
        self._all: dict[Callable[[str], None], None] = {}
        self._somebody = Event()

    def watch(self, session_id: str, head: int, wake: Callable[[], None]) -> None:
        """From here on ``wake`` is called when a session has more events than these."""
        self._looking.setdefault(session_id, {})[wake] = None
        self._heads.setdefault(session_id, head)
        self._somebody.set()

    def leave(self, session_id: str, wake: Callable[[], None]) -> None:
        """No longer."""
        mine = self._looking.get(session_id, {})
        mine.pop(wake, None)
        if not mine:
            self._looking.pop(session_id, None)
            self._heads.pop(session_id, None)

    def watch_all(self, hear: Callable[[str], None]) -> None:
        """From here on ``hear`` is told of each session that this process wrote to."""
        self._all[hear] = None

    def leave_all(self, hear: Callable[[str], None]) -> None:
        """No longer."""
        self._all.pop(hear, None)

    def look(self, session_id: str) -> None:
        """This process wrote something down for a session."""
        for hear in tuple(self._all):
            hear(session_id)
        self.heard(session_id)

    def heard(self, session_id: str) -> None:
        """Something happens in a session here: those who look on at it alone look at once."""
        self._wake(session_id)

    async def run(self) -> None:
        """Look until this is cancelled."""
        while True:
            if not self._looking:
                self._somebody = Event()
                await self._somebody.wait()
            began = self._clock.ticks()
            await self._look_at_all()
            took = (self._clock.ticks() - began) / 1e9
            with move_on_after(max(LOOK_SECONDS, took * _PATIENCE)):
                await Event().wait()

    async def _look_at_all(self) -> None:
        try:
            heads = await self._archive.heads(tuple(self._looking))
        except JournalError:
            return  # whoever reads it next is told why
        for session_id in tuple(self._looking):
            head = heads.get(session_id, _GONE)
            if self._heads.get(session_id, head) != head:
                self._heads[session_id] = head
                self._wake(session_id)

    def _wake(self, session_id: str) -> None:
        for wake in tuple(self._looking.get(session_id, ())):
            wake()
