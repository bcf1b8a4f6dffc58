"""One who listens to a session: events without a gap, live pieces as far as they keep up.

Whoever tells never waits. What does not fit is read from the journal where it is an event, and
counted where it is not. Who tells, and how anything is sent, is not known here.
"""

from collections import deque
from collections.abc import AsyncGenerator, Sequence

from anyio import Event, move_on_after

from holdfast.app.telling import told_json
from holdfast.contract.journal import MOST_EVENTS, Journal
from holdfast.surfaces.http.live.frames import QUIET_SECONDS, STILL_HERE, Frame, frame, told

MOST_HELD = 1_000
MOST_HELD_BYTES = 1024 * 1024
_PIECE_BYTES = 256 * 1024


class Subscription:
    """Used on one event loop."""

    def __init__(self, session_id: str, journal: Journal, after: int, *, live: bool) -> None:
        self._session_id = session_id
        self._journal = journal
        self._sent = after
        self._live = live
        self._held: deque[Frame] = deque()
        self._bytes = 0
        self._missed = 0
        self._through = after
        """As far as this nobody tells what is in the journal."""
        self._over = False
        self._woken = Event()

    def begin(self, through: int) -> None:
        """From here on it is told what happens, and what is behind this event."""
        self._through = through

    def put(self, one: Frame) -> None:
        """Something happened."""
        if not one.sequence and not self._live:
            return
        if len(self._held) < MOST_HELD and self._bytes + len(one.data) <= MOST_HELD_BYTES:
            self._held.append(one)
            self._bytes += len(one.data)
        elif one.sequence:  # its place is kept: what is told behind it must not come before it
            if self._held and not self._held[-1].data:
                self._held.pop()
            self._held.append(Frame(one.sequence, b""))
        else:
            self._missed += 1
        self._woken.set()

    def end(self) -> None:
        """Nothing comes any more."""
        self._over = True
        self._woken.set()

    async def pieces(self) -> AsyncGenerator[bytes]:
        """What is to be sent, as it happens, until the end; JournalError."""
        yield STILL_HERE
        while True:
            self._woken = Event()
            sent = False
            async for piece in self._round():
                sent = True
                yield piece
            if self._over:
                return
            with move_on_after(QUIET_SECONDS) as quiet:
                await self._woken.wait()
            if quiet.cancelled_caught and not sent:
                yield STILL_HERE

    async def _round(self) -> AsyncGenerator[bytes]:
        """What has come since the last one."""
        async for piece in self._written(self._through):
            yield piece
        pieces: list[bytes] = []
        for one in self._taken():
            if one.sequence > self._sent + 1 or not one.data:
                if pieces:
                    yield b"".join(pieces)
                    pieces = []
                async for piece in self._written(one.sequence):
                    yield piece
            elif not one.sequence or one.sequence == self._sent + 1:
                self._sent = one.sequence or self._sent
                pieces.append(one.data)
        if self._missed:
            pieces.append(told("missed", {"count": self._missed}))
            self._missed = 0
        if pieces:
            yield b"".join(pieces)

    def _taken(self) -> Sequence[Frame]:
        """What was told, but for what stands before an event that was sent: it was told whole."""
        held, self._held, self._bytes = list(self._held), deque(), 0
        sent = [at for at, one in enumerate(held) if 0 < one.sequence <= self._sent]
        return held[sent[-1] + 1 :] if sent else held

    async def _written(self, through: int) -> AsyncGenerator[bytes]:
        """What the journal holds beyond what was sent, as far as that."""
        while self._sent < through:
            page = await self._journal.events(self._session_id, after=self._sent)
            pieces: list[bytes] = []
            size = 0
            for event in page:
                if event.sequence > through:
                    break
                data = frame("event", told_json(event), event.sequence).data
                pieces.append(data)
                size += len(data)
                self._sent = event.sequence
                if size > _PIECE_BYTES:
                    yield b"".join(pieces)
                    pieces, size = [], 0
            if pieces:
                yield b"".join(pieces)
            if len(page) < MOST_EVENTS:
                return
