"""Keeps what is known of the shells of an agent's sessions up to date with their journals.

A journal is read once from its end, and from there on only what is new in it: of its own session
from what this process appends, of others when somebody asks. What events mean is told elsewhere.
"""

from collections.abc import Iterable

from anyio import Event as Signal
from anyio import Lock

from holdfast.contract.errors import Unavailable
from holdfast.contract.events import CallSettled, Event
from holdfast.contract.journal import EventQuery, Journal, JournalError
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.shell_ledger import TYPES, Ledger

_PAGE = 400
_ANYWHERE = "/"


class _Followed:
    """One session, and how far it was read."""

    def __init__(self, workspace: str) -> None:
        self.ledger = Ledger(workspace)
        self.through = 0
        self.begun = False
        self.behind = True
        """More was written than was heard."""

    def hear(self, event: Event) -> bool:
        """Take the next event; False: it is not the next one."""
        if event.sequence <= self.through:
            return True
        if event.sequence != self.through + 1:
            return False
        self.through = event.sequence
        self.ledger.tell(event)
        return True


class ShellEvents:
    """Of the sessions of one agent, as one of them sees it."""

    def __init__(self, ground: Ground, workspace: str | None) -> None:
        self._ground = ground
        self._own = _Followed(workspace or _ANYWHERE)
        self._others: dict[str, _Followed] = {}
        self._reading = Lock()
        self._over: dict[str, Signal] = {}
        if ground.log is not None:
            ground.log.listeners.append(self._heard)

    async def own(self) -> Ledger:
        """What is known of the calling session."""
        if self._ground.log is not None and self._own.behind:
            await self._follow(self._own, self._ground.session_id)
        return self._own.ledger

    async def of(self, session_id: str | None) -> Ledger:
        """What is known of a session of the same agent; PolicyDenied."""
        if session_id is None or session_id == self._ground.session_id:
            return await self.own()
        session = await self._ground.session(session_id)
        known = self._others.get(session_id)
        if known is None:
            place = session.state.workspace or _ANYWHERE
            known = self._others.setdefault(session_id, _Followed(place))
        if known.through < session.sequence:
            known.behind = True
            await self._follow(known, session_id)
        return known.ledger

    async def settled(self, call_id: str) -> None:
        """Wait until a call of this session has its answer."""
        await self._over.setdefault(call_id, Signal()).wait()

    def said(self, call_id: str) -> None:
        """Whoever waits for a call need not wait any longer."""
        waiting = self._over.pop(call_id, None)
        if waiting is not None:
            waiting.set()

    def _heard(self, event: Event) -> None:
        own = self._own
        if own.begun and not own.behind:
            own.behind = not own.hear(event)
        else:
            own.behind = True
        if isinstance(event.payload, CallSettled):
            self.said(event.payload.call_id)

    async def _follow(self, followed: _Followed, session_id: str) -> None:
        log = self._ground.log
        if log is None:
            return
        async with self._reading:
            try:
                journal = await log.journal()
                while followed.behind:
                    followed.behind = False
                    if not followed.begun:
                        await self._begin(followed, journal, session_id)
                    while page := await journal.events(session_id, after=followed.through):
                        _tell(followed, page)
            except JournalError as problem:
                followed.behind = True
                raise Unavailable(f"The session cannot be read: {problem}") from None

    async def _begin(self, followed: _Followed, journal: Journal, session_id: str) -> None:
        """From the end: all that changed the shell, and the newest commands."""
        last = (await journal.session(session_id)).sequence
        found = {one.sequence: one for one in await _all(journal, session_id, TYPES[:1])}
        before: str | None = None
        # Read in order, a page that is older may know a command's question, or a command more.
        while True:
            query = EventQuery(before=before, types=TYPES[1:], limit=_PAGE)
            page = await journal.find(session_id, query)
            found |= {one.sequence: one for one in page}
            trial = Ledger(followed.ledger.cwd)
            _fold(trial, found.values())
            if len(page) < _PAGE or not trial.lacks:
                break
            before = page[0].id
        _fold(followed.ledger, (one for one in found.values() if one.sequence <= last))
        followed.through, followed.begun = last, True


async def _all(journal: Journal, session_id: str, types: tuple[str, ...]) -> list[Event]:
    found: list[Event] = []
    before: str | None = None
    while page := await journal.find(session_id, EventQuery(before=before, types=types)):
        found = [*page, *found]
        before = page[0].id
    return found


def _fold(ledger: Ledger, events: Iterable[Event]) -> None:
    for event in sorted(events, key=lambda one: one.sequence):
        ledger.tell(event)


def _tell(followed: _Followed, events: Iterable[Event]) -> None:
    for event in events:
        followed.hear(event)
