"""A session that runs in this process, as other windows see and steer it."""

from collections.abc import Callable
from typing import Protocol

from holdfast.app.assembly import Whole
from holdfast.app.settings import Surroundings
from holdfast.app.shown_commands import ShownCommands
from holdfast.app.telling import Told
from holdfast.contract.events import Event, SessionStatus
from holdfast.contract.shell import LiveCommands
from holdfast.runtime.session_log import SessionLog

Listener = Callable[[Told], None]
"""Told of everything, from any thread."""


class Onlooker(Protocol):
    """Somebody who is told what happens in a session."""

    def hear(self, told: Told, /) -> None:
        """Something happened. From any thread."""
        ...

    def look(self) -> None:
        """Somebody else wrote something down."""
        ...

    def end(self) -> None:
        """It does not run here any more."""
        ...


class Window:
    """What can be seen of a session, and done to it. Used on the event loop that runs it."""

    def __init__(
        self,
        parts: Whole,
        log: SessionLog,
        listeners: list[Listener],
        looked: Callable[[], None],
        interrupt_call: Callable[[], bool],
    ) -> None:
        """``looked``: somebody may have interrupted."""
        self._parts = parts
        self._log = log
        self._listeners = listeners
        self._looked = looked
        self._onlookers: list[Onlooker] = []
        self.interrupt_call = interrupt_call
        """Stop the calls that run now, and let the agent go on; whether there were any."""

    @property
    def session_id(self) -> str:
        """Which session it is."""
        return self._parts.session.id

    @property
    def surroundings(self) -> Surroundings:
        """Whose home it belongs to."""
        return self._parts.own.parts.surroundings

    @property
    def commands(self) -> LiveCommands:
        """The commands that run now, without secrets."""
        return ShownCommands(self._parts.hand.commands, self._parts.redactor)

    def enter(self, onlooker: Onlooker) -> None:
        """Tell somebody what happens, from here on."""
        self._onlookers.append(onlooker)
        self._listeners.append(onlooker.hear)

    def leave(self, onlooker: Onlooker) -> None:
        """Tell them no longer."""
        self._onlookers.remove(onlooker)
        self._listeners.remove(onlooker.hear)

    def look(self) -> None:
        """Something was written down for the session: whoever waits for that looks now."""
        self._parts.pipeline.heard(None)
        self._parts.own.people.heard(None)
        self._looked()
        for onlooker in self._onlookers:
            onlooker.look()

    def rests(self) -> None:
        """The session does not run here any more."""
        for onlooker in self._onlookers:
            onlooker.end()

    async def events(self, after: int) -> tuple[Event, ...]:
        """The events behind a number, a page of them; JournalError."""
        journal = await self._log.journal()
        return await journal.events(self.session_id, after=after)

    async def status(self) -> SessionStatus:
        """Where it stands; JournalError."""
        journal = await self._log.journal()
        return (await journal.session(self.session_id)).state.status
