"""Rows as every store keeps them, and a desk where a transaction works on them.

A desk reads each row once, is changed in memory, and says at the end what has to be written. Which
store reads and writes is not known here.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import msgspec

from holdfast.contract.session_state import (
    SessionState,
    due_micros,
    outcome_status,
    requires_action,
)
from holdfast.record.codec import GENESIS, Stored

Role = Literal["user", "assistant"]


class SessionRow(NamedTuple):
    """A session: where its journal ends, who runs it, and what its events add up to."""

    id: str
    created_at: int
    """In microseconds since 1970, as all times of rows."""
    updated_at: int
    sequence: int
    hash: bytes
    state: SessionState
    epoch: int = 0
    holder: str | None = None
    until: int = 0
    """When the lease of the holder ends."""
    number: int = 0
    """The store's own name for it: events are kept by it."""
    due: int | None = None
    """From when on it has to be run; None: not for now. It follows from the state."""


class Brief(NamedTuple):
    """What sessions are listed by, in a few words: it is looked at for all, and seldom changes."""

    number: int
    id: str
    agent_id: str
    """Empty: it is nobody's."""
    parent_id: str | None
    status: str
    requires_action: int
    setup: str | None
    outcome_title: str | None
    outcome_status: str
    outcome_trend: str | None
    promotion_ready: int
    rested_at: int
    """When it last came to rest; 0: it never did."""


def brief_of(row: SessionRow) -> Brief:
    """It follows from the state."""
    state, managed = row.state, row.state.managed
    record = None if managed is None else managed.evaluated
    found = None if record is None else record.evaluation
    return Brief(
        number=row.number,
        id=row.id,
        agent_id=state.agent_id or "",
        parent_id=state.parent_id,
        status=state.status,
        requires_action=int(requires_action(state)),
        setup=None if managed is None else managed.setup_fingerprint,
        outcome_title=None if managed is None else managed.outcome_title,
        outcome_status=outcome_status(state),
        outcome_trend=None if found is None else found.trend,
        promotion_ready=int(found is not None and found.promotion_ready),
        rested_at=0 if managed is None else managed.rested_at,
    )


def _is_listed_alike(before: SessionRow, after: SessionRow) -> bool:
    """Whether it is listed as it was: most of what happens in a session is looked at only here."""
    one, other = before.state, after.state
    if (
        one.status is other.status
        and one.managed is other.managed
        and one.confirmation is other.confirmation
        and one.custom is other.custom
        and one.stop_reason is other.stop_reason
        and one.agent_id is other.agent_id
    ):
        return True
    return brief_of(before) == brief_of(after)


class MessageRow(NamedTuple):
    """A message of the conversation."""

    id: str
    session_id: str
    number: int
    role: Role
    created_at: int
    updated_at: int


class PartRow(NamedTuple):
    """A part of a message."""

    id: str
    message_id: str
    session_id: str
    number: int
    type: str
    data: str
    """The whole part, as JSON."""
    tool_call_id: str | None
    tool_state: str | None
    created_at: int
    updated_at: int


class Marked(NamedTuple):
    """Events of a session that were taken into account, and when."""

    at: int
    session: SessionRow
    event_ids: tuple[str, ...]


class Rebuilt(NamedTuple):
    """What the events of a session add up to, all of it."""

    session: SessionRow
    messages: list[MessageRow]
    parts: list[PartRow]
    processed: dict[str, "Mark"]
    """When each event was taken into account, by its id."""


class Mark(NamedTuple):
    """An event, and when it was taken into account."""

    sequence: int
    at: int | None


class Loads(msgspec.Struct, frozen=True):
    """How a store reads rows."""

    session: Callable[[str], SessionRow | None]
    part: Callable[[str, int], PartRow | None]
    """By its message and number."""
    has_event: Callable[[str, str], bool]
    """Whether a session has an event of this id."""
    was_called: Callable[[str, str], bool]
    """Whether a session has known a call of this id."""
    new_number: Callable[[], int]
    """A number that no session in the store has."""
    now: int | None = None
    """The moment by the store's own clock, in microseconds since 1970; None: it has none."""


class Seen:
    """Rows as they are now. Whoever is told of every change may keep it for the next desk."""

    __slots__ = ("parts", "sessions")

    def __init__(self) -> None:
        self.sessions: dict[str, SessionRow | None] = {}
        self.parts: dict[tuple[str, int], PartRow | None] = {}

    def forget(self) -> None:
        """Somebody else may have changed something."""
        self.sessions.clear()
        self.parts.clear()


class Desk:
    """The rows of one transaction."""

    def __init__(self, loads: Loads, seen: Seen | None = None) -> None:
        self._loads = loads
        self.now = loads.now
        """Not before whatever is done here was asked for, by the clock of a store that many
        machines share; None: it has no clock of its own."""
        seen = seen or Seen()
        self._sessions = seen.sessions
        self._parts = seen.parts
        self.events: list[Stored] = []
        self.marked: list[Marked] = []
        self.new_sessions: dict[str, SessionRow] = {}
        self.sessions: dict[str, SessionRow] = {}
        self.due: dict[str, int | None] = {}
        """Sessions that have to be run at another time than before."""
        self.briefs: dict[str, SessionRow] = {}
        """Sessions that are listed otherwise than before."""
        self.messages: list[MessageRow] = []
        self.new_parts: dict[tuple[str, int], PartRow] = {}
        self.parts: dict[tuple[str, int], PartRow] = {}
        self.deleted: dict[str, SessionRow] = {}
        self.rebuilt: dict[str, Rebuilt] = {}

    def session(self, session_id: str) -> SessionRow | None:
        """A session as it is now."""
        if session_id not in self._sessions:
            self._sessions[session_id] = self._loads.session(session_id)
        return self._sessions[session_id]

    def put_session(self, row: SessionRow) -> None:
        """It is like this from now on."""
        before = self._sessions.get(row.id)
        is_new = before is None or row.id in self.new_sessions
        (self.new_sessions if is_new else self.sessions)[row.id] = row
        if not is_new and before is not None and before.due != row.due:
            self.due[row.id] = row.due
        if before is None or row.id in self.briefs or not _is_listed_alike(before, row):
            self.briefs[row.id] = row
        self._sessions[row.id] = row

    def new_number(self) -> int:
        """A number for a session that begins."""
        number = self._loads.new_number()
        taken = {row.number for row in self.new_sessions.values()}
        while number in taken:
            number += 1
        return number

    def part(self, message_id: str, number: int) -> PartRow | None:
        """A part as it is now."""
        key = (message_id, number)
        if key not in self._parts:
            self._parts[key] = self._loads.part(message_id, number)
        return self._parts[key]

    def has_event(self, session_id: str, event_id: str) -> bool:
        """Whether a session has an event of this id."""
        here = any((one.session_id, one.id) == (session_id, event_id) for one in self.events)
        return here or self._loads.has_event(session_id, event_id)

    def was_called(self, session_id: str, call_id: str) -> bool:
        """Whether a session has known a call of this id."""
        called = (session_id, call_id)
        new = self.new_parts.values()
        here = any((one.session_id, one.tool_call_id) == called for one in new)
        return here or self._loads.was_called(session_id, call_id)

    def delete(self, row: SessionRow) -> None:
        """It is gone, with all that was about to be written of it."""
        gone = row.id
        self.events = [one for one in self.events if one.session_id != gone]
        self.messages = [one for one in self.messages if one.session_id != gone]
        self.marked = [one for one in self.marked if one.session.id != gone]
        for parts in (self._parts, self.new_parts, self.parts):
            for key in [key for key, part in parts.items() if part and part.session_id == gone]:
                del parts[key]
        self.rebuilt.pop(gone, None)
        self.sessions.pop(gone, None)
        self.due.pop(gone, None)
        self.briefs.pop(gone, None)
        if self.new_sessions.pop(gone, None) is None:
            self.deleted[gone] = row
        self._sessions[gone] = None

    def rebuild(self, again: Rebuilt) -> None:
        """Its rows are these from now on; what was about to be written is among them."""
        gone = again.session.id
        for key in [key for key, part in self._parts.items() if part and part.session_id == gone]:
            del self._parts[key]
        self._parts.update({(part.message_id, part.number): part for part in again.parts})
        self._sessions[gone] = again.session
        self.sessions.pop(gone, None)
        self.due.pop(gone, None)
        self.briefs[gone] = again.session
        self.rebuilt[gone] = again

    def put_part(self, row: PartRow, *, is_new: bool) -> None:
        """It is like this from now on."""
        key = (row.message_id, row.number)
        is_new = is_new or key in self.new_parts
        (self.new_parts if is_new else self.parts)[key] = row
        self._parts[key] = row


class Draft:
    """Changes of one append, kept apart until all of it is known to be good."""

    def __init__(self, desk: Desk, row: SessionRow) -> None:
        self._desk = desk
        self.row = row
        self.state = row.state
        self.events: list[Stored] = []
        self.messages: list[MessageRow] = []
        self.marked: list[Marked] = []
        self._parts: dict[tuple[str, int], PartRow] = {}
        self._new: set[tuple[str, int]] = set()

    def was_called(self, call_id: str) -> bool:
        """Whether the session has known a call of this id."""
        return self._desk.was_called(self.row.id, call_id)

    def part(self, message_id: str, number: int) -> PartRow | None:
        """A part as it would be."""
        return self._parts.get((message_id, number)) or self._desk.part(message_id, number)

    def add_part(self, part: PartRow) -> None:
        """There would be one more."""
        self._new.add((part.message_id, part.number))
        self.put_part(part)

    def put_part(self, part: PartRow) -> None:
        """It would be like this."""
        self._parts[part.message_id, part.number] = part

    def kept(self, at: int) -> None:
        """Put everything on the desk."""
        desk = self._desk
        desk.events += self.events
        desk.marked += self.marked
        desk.messages += self.messages
        for key, part in self._parts.items():
            desk.put_part(part, is_new=key in self._new)
        last, row = self.events[-1], self.row
        desk.put_session(
            SessionRow(
                *(row.id, row.created_at, at, last.sequence, last.hash, self.state),
                *row[6:10],
                due_micros(self.state),
            )
        )


def fresh(session_id: str, at: int, number: int = 0, beginning: bytes = GENESIS) -> SessionRow:
    """A session nothing has happened in."""
    return SessionRow(session_id, at, at, 0, beginning, SessionState(), number=number)


def text_suffix(event_id: str) -> str:
    """What is left of an event's id for the message and the part it makes: they sort alike."""
    return event_id.partition("_")[2]
