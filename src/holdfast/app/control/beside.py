"""One who looks on at a session that runs in the same process: no socket, and nothing is encoded.

Whoever runs the session only puts things into a bounded queue, and never waits. Events come in the
order of their numbers and without a gap: what does not fit is read from the journal. What is told
live and does not fit is lost, and counted.
"""

from collections import deque
from collections.abc import AsyncGenerator, Sequence
from threading import Lock
from typing import NamedTuple

from anyio import move_on_after

from holdfast.app.control.window import Window
from holdfast.app.telling import Told
from holdfast.contract.events import Event
from holdfast.contract.journal import MOST_EVENTS, JournalError
from holdfast.execution.drive import Wakeup

LOOK_SECONDS = 1.0
"""How often it is looked whether somebody wrote something down who told nobody."""
MOST_HELD = 1000


class _Taken(NamedTuple):
    """What came since the last round."""

    held: Sequence[Told]
    missed: int
    behind: bool
    over: bool


class Beside:
    """What happens behind an event, until the session rests. Close it."""

    def __init__(self, window: Window, after: int) -> None:
        self._window = window
        self._sent = after
        self._lock = Lock()
        self._held: deque[Told] = deque()
        self._missed = 0
        self._behind = True
        """Events are in the journal that were not held."""
        self._over = False
        self._woken = Wakeup()
        self._is_woken = False
        window.enter(self)

    def close(self) -> None:
        """Look on no longer."""
        self._window.leave(self)

    def hear(self, told: Told) -> None:
        """Something happened. Called by whoever runs the session, from any thread."""
        with self._lock:
            if len(self._held) < MOST_HELD:
                self._held.append(told)
            elif isinstance(told, Event):
                self._behind = True
            else:
                self._missed += 1
        self._wake()

    def look(self) -> None:
        """Somebody else wrote something down."""
        self._behind = True
        self._wake()

    def end(self) -> None:
        """The session does not run here any more."""
        self._over = True
        self._wake()

    async def __call__(self) -> AsyncGenerator[Told | int]:
        """All of it; a number: so much that was told live is lost. JournalError."""
        while True:
            taken = self._taken()
            async for one in self._told(taken.held):
                yield one
            if taken.missed:
                yield taken.missed
            if taken.behind or taken.over:
                async for event in self._read():
                    yield event
            if taken.over:
                return
            with move_on_after(LOOK_SECONDS) as waited:
                await self._woken.wait()
            if waited.cancelled_caught:
                self._behind = True

    async def _told(self, held: Sequence[Told]) -> AsyncGenerator[Told]:
        for one in self._fresh(held):
            if not isinstance(one, Event):
                yield one
            elif one.sequence == self._sent + 1:
                self._sent = one.sequence
                yield one
            else:  # others wrote something in between
                async for event in self._read(one.sequence):
                    yield event

    def _taken(self) -> _Taken:
        with self._lock:
            # Before anything is taken: whatever comes from here on wakes again.
            self._woken, self._is_woken = Wakeup(), False
            taken = _Taken(list(self._held), self._missed, self._behind, self._over)
            self._held.clear()
            self._missed, self._behind = 0, False
        return taken

    def _fresh(self, held: Sequence[Told]) -> Sequence[Told]:
        """Without what stands before an event that was told already: that told it whole."""
        told = [
            at
            for at, one in enumerate(held)
            if isinstance(one, Event) and one.sequence <= self._sent
        ]
        return held[told[-1] + 1 :] if told else held

    async def _read(self, through: int | None = None) -> AsyncGenerator[Event]:
        """What the journal holds beyond what was told, as far as that; JournalError."""
        while through is None or self._sent < through:
            try:
                page = await self._window.events(self._sent)
            except JournalError:
                if self._over:
                    return  # it may be closed by now: whoever follows reads on by themselves
                raise
            for event in page:
                if through is None or event.sequence <= through:
                    self._sent = event.sequence
                    yield event
            if len(page) < MOST_EVENTS:
                return

    def _wake(self) -> None:
        with self._lock:
            woken = None if self._is_woken else self._woken
            self._is_woken = True
        if woken is not None:
            woken.set()
