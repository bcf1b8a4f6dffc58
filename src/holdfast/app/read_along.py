"""The subagents of a run: what they are called, which of them work, and what they do.

What they do stands in journals of their own, which are read along; a run tells only when one begins
and ends.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec
from anyio import Lock

from holdfast.app.telling import Told
from holdfast.contract.events import ChildCreated, ChildIdle, Event
from holdfast.contract.journal import Journal, JournalError
from holdfast.record.codec import UnreadableEvent

_NAMELESS = "a subagent"


class Below(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened in the session of a subagent."""

    name: str
    depth: int
    """1 for one that the agent itself began."""
    event: Event


class _Child(msgspec.Struct):
    name: str
    depth: int
    seen: int = 0


class Subagents:
    """Knows which session a person speaks with, and which ones are below it."""

    def __init__(self) -> None:
        self.top: str | None = None
        self._names: dict[str, str | None] = {}
        self.at_work: dict[str, _Child] = {}
        """Those that have not ended, by their sessions."""

    def note(self, told: Told, depth: int = 1) -> None:
        """One more thing that happened, in a session so far up."""
        match told.payload if isinstance(told, Event) else None:
            case ChildCreated(child_session_id=child, outcome_title=name):
                self._names[child] = name
                self.at_work[child] = _Child(name or _NAMELESS, depth)
            case ChildIdle(child_session_id=child):
                self.at_work.pop(child, None)
            case _:
                pass

    def named(self, session_id: str) -> str | None:
        """Who asks, where it is a subagent."""
        if self.top is None or session_id == self.top:
            return None
        name = self._names.get(session_id)
        return f"the subagent {name} asks" if name else f"a subagent asks ({session_id})"


class ReadAlong:
    """Reads what subagents do, each event once."""

    def __init__(
        self, subagents: Subagents, journal: Callable[[], Awaitable[Journal | None]]
    ) -> None:
        self._subagents = subagents
        self._journal = journal
        self._reading = Lock()

    async def new(self) -> list[Below]:
        """What they did since the last look."""
        found: list[Below] = []
        if not self._subagents.at_work:
            return found
        async with self._reading:
            journal = await self._journal()
            if journal is None:
                return found
            for session_id, child in list(self._subagents.at_work.items()):
                # One that is about to begin has no journal yet; the next look finds it.
                with suppress(JournalError, UnreadableEvent):
                    for event in await journal.events(session_id, after=child.seen):
                        child.seen = event.sequence
                        self._subagents.note(event, child.depth + 1)
                        found.append(Below(name=child.name, depth=child.depth, event=event))
        return found
