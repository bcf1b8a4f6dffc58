"""One who looks on: what happens in a session, kept until it was sent, and never more than so much.

Whoever runs the session only puts things into a bounded queue, and never waits. Events come in the
order of their numbers and without a gap: what does not fit is read from the journal. What is told
live and does not fit is lost, and counted. How anything is sent is not known here.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from threading import Lock
from typing import NamedTuple

import msgspec
from anyio import move_on_after

from holdfast.app.control import wire
from holdfast.app.control.window import Window
from holdfast.app.telling import Told, told_json
from holdfast.contract.events import Event
from holdfast.contract.journal import MOST_EVENTS, JournalError
from holdfast.execution.drive import Wakeup

LOOK_SECONDS = 0.5
"""How often it is looked whether somebody else wrote something down."""
MOST_HELD = 1000
MOST_HELD_BYTES = 1024 * 1024
"""Of what is told live."""
QUIET_LOOKS = 6
"""After so many looks without a word the other side is told that somebody is here."""
_PIECE_BYTES = 64 * 1024
"""So much is sent at once."""
_AROUND_BYTES = 64
"""What stands around an event on the wire."""

_Held = Event | bytes
"""An event, or the line of what was told live."""
Send = Callable[[bytes], Awaitable[None]]


class _Taken(NamedTuple):
    """What came since the last round."""

    held: Sequence[_Held]
    missed: int
    behind: bool
    over: bool


class Watcher:
    """Sends what happens behind an event, until the session rests. Close it."""

    def __init__(self, window: Window, after: int, send: Send) -> None:
        self._window = window
        self._sent = after
        self._outbox = _Outbox(send)
        self._lock = Lock()
        self._held: deque[_Held] = deque()
        self._bytes = 0
        self._missed = 0
        self._behind = self._over = False
        """Events are in the journal that were not held; the session rests."""
        self._woken = Wakeup()
        self._is_woken = False
        window.enter(self)

    def close(self) -> None:
        """Look on no longer."""
        self._window.leave(self)

    def hear(self, told: Told) -> None:
        """Something happened. Called by whoever runs the session, from any thread."""
        line = told if isinstance(told, Event) else told_json(told)
        size = 0 if isinstance(line, Event) else len(line)
        with self._lock:
            full = len(self._held) >= MOST_HELD or self._bytes + size > MOST_HELD_BYTES
            if not full:
                self._held.append(line)
                self._bytes += size
            elif isinstance(line, Event):
                self._behind = True
            else:
                self._missed += 1
        self._wake()

    def look(self) -> None:
        """Somebody else wrote something down."""
        self._behind = True
        self._wake()

    def end(self) -> None:
        """The session does not run here any more: send what is left, and that."""
        self._over = True
        self._wake()

    async def __call__(self) -> None:
        """Send until the session rests; JournalError, and what sending raises."""
        await self._read()
        quiet = 0
        while not await self._round():
            with move_on_after(LOOK_SECONDS) as waited:
                await self._woken.wait()
            quiet = quiet + 1 if waited.cancelled_caught else 0
            if quiet:
                await self._read()
            if quiet >= QUIET_LOOKS:
                quiet = 0
                await self._outbox.put(wire.Here())

    async def _round(self) -> bool:
        """Send what has come; whether that was all."""
        taken = self._taken()
        for one in self._fresh(taken.held):
            if isinstance(one, bytes):
                await self._outbox.put(wire.TellsLine(told=msgspec.Raw(one)))
            elif one.sequence == self._sent + 1:
                await self._tell(one)
            else:
                await self._read(one.sequence)  # others wrote something in between
        if taken.missed:
            await self._outbox.put(wire.Missed(count=taken.missed))
        if taken.behind:
            await self._read()
        if taken.over:
            with suppress(JournalError):  # it may be closed by now
                await self._read()
            await self._outbox.put(wire.Rests())
        await self._outbox.flush()
        return taken.over

    def _taken(self) -> _Taken:
        with self._lock:
            # Before anything is taken: whatever comes from here on wakes again.
            self._woken, self._is_woken = Wakeup(), False
            taken = _Taken(self._held, self._missed, self._behind, self._over)
            self._held, self._bytes = deque(), 0
            self._missed, self._behind = 0, False
        return taken

    def _fresh(self, held: Sequence[_Held]) -> Sequence[_Held]:
        """Without what stands before an event that was sent already: that told it again, whole."""
        sent = [
            at
            for at, one in enumerate(held)
            if isinstance(one, Event) and one.sequence <= self._sent
        ]
        return list(held)[sent[-1] + 1 :] if sent else held

    async def _read(self, through: int | None = None) -> None:
        """Send what the journal holds beyond what was sent, as far as that; JournalError."""
        while through is None or self._sent < through:
            page = await self._window.events(self._sent)
            for event in page:
                if through is None or event.sequence <= through:
                    await self._tell(event)
            if len(page) < MOST_EVENTS:
                return

    async def _tell(self, event: Event) -> None:
        line = told_json(event)
        if len(line) + _AROUND_BYTES > wire.MOST_LINE_BYTES:
            await self._outbox.put(wire.TooLarge(sequence=event.sequence))
        else:
            await self._outbox.put(wire.TellsLine(told=msgspec.Raw(line)))
        self._sent = event.sequence

    def _wake(self) -> None:
        with self._lock:
            woken = None if self._is_woken else self._woken
            self._is_woken = True
        if woken is not None:
            woken.set()


class _Outbox:
    """Joins lines to pieces: sending costs more than a line does."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._lines: list[bytes] = []
        self._bytes = 0

    async def put(self, reply: wire.Reply) -> None:
        """Send a line, soon."""
        line = wire.line_of(reply)
        self._lines.append(line)
        self._bytes += len(line)
        if self._bytes >= _PIECE_BYTES:
            await self.flush()

    async def flush(self) -> None:
        """Send all of it now."""
        if self._lines:
            lines, self._lines, self._bytes = self._lines, [], 0
            await self._send(b"".join(lines))
