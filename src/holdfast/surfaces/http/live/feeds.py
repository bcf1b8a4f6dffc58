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
_ASK_SECONDS = 0.3
"""Where somebody runs it who does not tell what happens: they may only just have begun."""


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
            feed = self._feeds[session_id] = _Feed(session_id, self._journal, self._pulse, head)
            self._group.start_soon(self._run, feed)
        feed.listeners[mine] = None
        mine.begin(feed.told)
        self._all.add(mine)
        if self._closed:
            mine.end()
        try:
            async with aclosing(mine.pieces()) as pieces:
                async for piece in pieces:
                    yield piece
        except JournalError:
            pass  # whoever comes again is told why
        finally:
            self._all.discard(mine)
            feed.listeners.pop(mine, None)
            if not feed.listeners:
                feed.scope.cancel()
                self._forget(feed)

    async def _run(self, feed: "_Feed") -> None:
        try:
            await feed.run(self._around)
        finally:
            self._forget(feed)  # whoever comes from here on needs another one

    def _forget(self, feed: "_Feed") -> None:
        if self._feeds.get(feed.session_id) is feed:
            del self._feeds[feed.session_id]


class _Feed:
    """The reader of one session."""

    def __init__(self, session_id: str, journal: Journal, pulse: Pulse, head: int) -> None:
        self.session_id = session_id
        self.told = head
        """The last event that all listeners know of."""
        self._journal = journal
        self._pulse = pulse
        self._new = Event()
        self._following: Following | None = None
        self.listeners: dict[Subscription, None] = {}
        self.scope = CancelScope()

    async def run(self, around: Surroundings) -> None:
        """Tell all listeners what happens, until nobody listens."""
        following = self._following = Following(
            self.session_id,
            self._journal,
            around,
            self.told,
            until_new=self._until_new,
            here=True,
        )
        self._pulse.watch(self.session_id, self.told, self._wake)
        try:
            with self.scope:
                async with aclosing(following(stays=True)) as told:
                    async for one in told:
                        self._tell(_frame(one))
        except JournalError:
            pass  # whoever listens is told by their own reading, or comes again
        finally:
            self._pulse.leave(self.session_id, self._wake)
            for one in tuple(self.listeners):
                one.end()

    def _tell(self, one: Frame) -> None:
        self.told = one.sequence or self.told
        for listener in tuple(self.listeners):
            listener.put(one)

    def _wake(self) -> None:
        self._new.set()

    async def _until_new(self) -> None:
        """Wait until something was written down, or somebody runs it."""
        following = self._following
        runs = following is not None and following.runner == "somebody"
        with move_on_after(_ASK_SECONDS if runs else _LOOK_SECONDS):
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
