"""Following a session from another window: live where its process answers, else by the journal.

Whoever follows need not know which of the two it is: events come once each and in their order. When
a process that was watched is gone, that is said, and the journal goes on.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

import msgspec
from anyio import sleep

from holdfast.app.control import wire
from holdfast.app.control.beside import Beside
from holdfast.app.control.client import NoSocket, Owner, RefusedRequest, Unreachable, owner_of
from holdfast.app.control.exchange import joined
from holdfast.app.control.serving import window_here
from holdfast.app.control.window import Window
from holdfast.app.session_store import runner_of
from holdfast.app.settings import Surroundings
from holdfast.app.telling import Told, UnreadableLine, told_in
from holdfast.contract.events import Event
from holdfast.contract.journal import MOST_EVENTS, Journal, Session
from holdfast.contract.session_state import Runner, is_left, reported
from holdfast.runtime.clock import SystemClock

LOOK_SECONDS = 0.2
"""How often the journal is looked into where nobody tells what is new."""
AGAIN_SECONDS = 5.0
"""When one who did not answer is asked again."""


class Missed(msgspec.Struct, frozen=True):
    """So much that was told live did not reach this window. Events always do."""

    count: int


class Lost(msgspec.Struct, frozen=True):
    """Nobody tells any more what happens live."""

    why: str


Followed = Told | Missed | Lost


async def _after_a_while() -> None:
    await sleep(LOOK_SECONDS)


class Following:
    """What happens in one session, behind an event."""

    def __init__(
        self,
        session_id: str,
        journal: Journal,
        around: Surroundings,
        after: int = 0,
        *,
        until_new: Callable[[], Awaitable[None]] = _after_a_while,
        here: bool = False,
    ) -> None:
        """``until_new``: waits until the journal is worth another look. ``here``: one that runs on
        this event loop is watched without its socket."""
        self._here = here
        self._session_id = session_id
        self._until_new = until_new
        self._journal = journal
        self._around = around
        self._clock = SystemClock()
        self._seen = after
        self._ask_at = 0
        """In ticks: one who did not answer is not asked before."""
        self._lost: Lost | None = None
        """Why it was not told live any more, and nobody has heard that yet."""
        self.runner: Runner = "nobody"
        """Who runs it, as far as was seen."""

    async def __call__(self, *, stays: bool = False) -> AsyncGenerator[Followed]:
        """Until the session rests; ``stays``: until it is closed. JournalError."""
        async with joined(self._around), aclosing(self._followed(stays=stays)) as followed:
            async for one in followed:
                yield one

    async def _followed(self, *, stays: bool) -> AsyncGenerator[Followed]:
        while True:
            session = await self._journal.session(self._session_id)
            lease = session.lease
            self.runner = runner_of(lease, self._clock)
            if (window := self._window()) is not None:
                async with aclosing(self._beside(window)) as told:
                    async for one in told:
                        yield one
            elif lease is not None and self.runner == "somebody" and self._may_ask():
                async with aclosing(self._live(lease.holder)) as told:
                    async for one in told:
                        yield one
            async with aclosing(self._written()) as found:
                async for event in found:
                    yield event
            session = await self._journal.session(self._session_id)
            self.runner = runner_of(session.lease, self._clock)
            if self._lost is not None and not self._has_ended(session):
                yield self._lost
            self._lost = None
            if self._is_over(session, stays=stays):
                return
            await self._until_new()

    def _is_over(self, session: Session, *, stays: bool) -> bool:
        if session.sequence > self._seen:
            return False
        if session.state.status == "terminated":
            return True
        return not stays and rests(session, self.runner)

    def _has_ended(self, session: Session) -> bool:
        """Whether it was told no longer because there was nothing more to tell."""
        return rests(session, self.runner) and not is_left(session.state, self.runner)

    def _may_ask(self) -> bool:
        return self._clock.ticks() >= self._ask_at

    def _window(self) -> Window | None:
        return window_here(self._session_id, self._around) if self._here else None

    async def _beside(self, window: Window) -> AsyncGenerator[Followed]:
        """Of one that runs in this process."""
        beside = Beside(window, self._seen)
        try:
            async with aclosing(beside()) as told:
                async for one in told:
                    if isinstance(one, Event):
                        self._seen = one.sequence
                    yield Missed(one) if isinstance(one, int) else one
        finally:
            beside.close()

    async def _live(self, holder: str) -> AsyncGenerator[Followed]:
        watched = False
        try:
            async with owner_of(self._session_id, holder, self._around) as owner:
                watched = True
                async with aclosing(self._told(owner)) as told:
                    async for one in told:
                        yield one
        except NoSocket:
            pass  # it may be there with the next look
        except (Unreachable, RefusedRequest) as problem:
            self._ask_at = self._clock.ticks() + int(AGAIN_SECONDS * 1e9)
            if watched:
                self._lost = Lost(str(problem))

    async def _told(self, owner: Owner) -> AsyncGenerator[Followed]:
        async with aclosing(owner.watch(self._session_id, self._seen)) as replies:
            async for reply in replies:
                match reply:
                    case wire.TellsLine(told=line):
                        one = _read(bytes(line), self._session_id)
                        if isinstance(one, Event):
                            if one.sequence != self._seen + 1:
                                raise Unreachable("it leaves events out")
                            self._seen = one.sequence
                        yield one
                    case wire.TooLarge(sequence=sequence):
                        async with aclosing(self._written(sequence)) as found:
                            async for event in found:
                                yield event
                    case wire.Missed(count=count):
                        yield Missed(count)
                    case _:
                        raise Unreachable(f"it tells {type(reply).__name__} of a watch")

    async def _written(self, through: int | None = None) -> AsyncGenerator[Event]:
        """What the journal holds beyond what was seen."""
        while True:
            page = await self._journal.events(self._session_id, after=self._seen)
            for event in page:
                if through is not None and event.sequence > through:
                    return
                self._seen = event.sequence
                yield event
            if len(page) < MOST_EVENTS:
                return


def rests(session: Session, runner: Runner) -> bool:
    """Whether nothing happens in it by itself: nobody runs it, or whoever does has ended a run."""
    if runner != "somebody":
        return True
    return session.state.status != "running" and reported(session.state, runner) != "busy"


def _read(line: bytes, session_id: str) -> Told:
    try:
        return told_in(line, session_id)
    except UnreadableLine as problem:
        raise Unreachable(str(problem)) from None
