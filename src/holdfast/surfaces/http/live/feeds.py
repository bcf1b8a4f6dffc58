"""One reader for each session that somebody listens to, however many they are.

It follows the session wherever it runs: live where its process answers, else by the journal. How
what it tells is sent is not known here.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from anyio import CancelScope, Event, move_on_after
from anyio.abc import TaskGroup

from holdfast.app.control.following import Followed, Following, Lost, Missed
from holdfast.app.settings import Surroundings
from holdfast.app.telling import told_json
from holdfast.contract.events import Event as Happened
from holdfast.contract.journal import Journal, JournalError
from holdfast.contract.json_value import encode_json
from holdfast.surfaces.http.live.frames import Frame, frame
from holdfast.surfaces.http.live.pulse import Pulse
from holdfast.surfaces.http.live.subscription import Subscription

_LOOK_SECONDS = 5.0
"""At the latest, whatever was told."""


class Feeds:
    """The readers. Used on one event loop."""

    def __init__(
        self, journal: Journal, around: Surroundings, pulse: Pulse, group: TaskGroup
    ) -> None:
        self._journal = journal
        self._around = around
        self._pulse = pulse
        self._group = group
        self._feeds: dict[str, _Feed] = {}
        self._all: set[Subscription] = set()
        self._closed = False

    async def listen(self, session_id: str, after: int, *, live: bool) -> AsyncGenerator[bytes]:
        """What happens in a session behind an event, to be sent; UnknownSession, JournalError."""
        head = (await self._journal.session(session_id)).sequence
        mine = Subscription(session_id, self._journal, min(after, head), live=live)
        return self._pieces(session_id, head, mine)

    def close(self) -> None:
        """End them all."""
        self._closed = True
        for one in tuple(self._all):
            one.end()

    async def _pieces(
        self, session_id: str, head: int, mine: Subscription
    ) -> AsyncGenerator[bytes]:
        feed = self._feeds.get(session_id)
        if feed is None:
            feed = self._feeds[session_id] = _Feed(session_id, self._journal, self._pulse)
            self._group.start_soon(feed.run, head, self._around)
        feed.listeners[mine] = None
        self._all.add(mine)
        if self._closed:
            mine.end()
        try:
            async with aclosing(mine.pieces()) as pieces:
                async for piece in pieces:
                    yield piece
        finally:
            self._all.discard(mine)
            feed.listeners.pop(mine, None)
            if not feed.listeners:
                feed.scope.cancel()
                if self._feeds.get(session_id) is feed:
                    del self._feeds[session_id]


class _Feed:
    """The reader of one session."""

    def __init__(self, session_id: str, journal: Journal, pulse: Pulse) -> None:
        self._session_id = session_id
        self._journal = journal
        self._pulse = pulse
        self._new = Event()
        self.listeners: dict[Subscription, None] = {}
        self.scope = CancelScope()

    async def run(self, head: int, around: Surroundings) -> None:
        """Tell all listeners what happens, until nobody listens."""
        following = Following(
            self._session_id, self._journal, around, head, until_new=self._until_new
        )
        self._pulse.watch(self._session_id, head, self._wake)
        try:
            with self.scope:
                async with aclosing(following(stays=True)) as told:
                    async for one in told:
                        self._tell(_frame(one))
        except JournalError:
            pass  # whoever listens is told by their own reading, or comes again
        finally:
            self._pulse.leave(self._session_id, self._wake)
            for one in tuple(self.listeners):
                one.end()

    def _tell(self, one: Frame) -> None:
        for listener in tuple(self.listeners):
            listener.put(one)

    def _wake(self) -> None:
        self._new.set()

    async def _until_new(self) -> None:
        """Wait until something was written down, or somebody runs it."""
        with move_on_after(_LOOK_SECONDS):
            await self._new.wait()
        self._new = Event()


def _frame(one: Followed) -> Frame:
    match one:
        case Missed(count):
            return frame("missed", encode_json({"count": count}))
        case Lost(why):
            return frame("lost", encode_json({"why": why}))
        case Happened():
            return frame("event", told_json(one), one.sequence)
        case _:
            return frame("live", told_json(one))
