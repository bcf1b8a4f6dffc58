"""Sessions to look at: listed, read as a conversation, searched, taken away.

Values and a protocol; nothing here runs a session. Stores are in `record`.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol

import msgspec

from holdfast.contract.events import Event, SessionStatus
from holdfast.contract.journal import JournalError, Session
from holdfast.contract.json_value import JsonObject
from holdfast.contract.outcomes import EvaluationStatus, Trend
from holdfast.contract.wake_events import LearningCaptured

LAST = "last"
"""Stands for the id of the session that was last active."""


Kinship = Literal["related", "parent", "children", "siblings"]
"""How sessions stand to one of them; related: in any of the other ways."""


class Likeness(msgspec.Struct, frozen=True, kw_only=True):
    """What a session is, for whoever looks for others like it."""

    session_id: str
    parent_id: str | None = None
    setup_fingerprint: str | None = None
    outcome_title: str | None = None


class SessionQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which sessions: those that fit, the last active first."""

    agent_id: str | None = None
    or_nobodys: bool = False
    """Those without an agent are meant as well."""
    parent_id: str | None = None
    status: SessionStatus | None = None
    active_before: datetime | None = None
    active_since: datetime | None = None
    """By when they last came to rest; those that never did, by what last happened."""
    has_outcome: bool | None = None
    outcome_status: EvaluationStatus | None = None
    outcome_trend: Trend | None = None
    promotion_ready: bool | None = None
    like: Likeness | None = None
    """Others than this one, and those first that are most like it: of the same setup, with the same
    outcome, that wait for somebody, that get on, that are near kin; then the last active."""
    kin: Kinship | None = None
    """Only those that stand so to the one above."""
    limit: int = 100


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a message."""

    id: str
    number: int
    type: str
    data: JsonObject
    """The whole part."""
    text: str
    """The same, as it is stored."""
    tool_call_id: str | None
    tool_state: str | None
    created_at: datetime
    updated_at: datetime


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message of a conversation."""

    id: str
    number: int
    role: Literal["user", "assistant"]
    created_at: datetime
    updated_at: datetime
    parts: tuple[Part, ...]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """An event that a search found."""

    session_id: str
    sequence: int
    event_id: str
    type: str
    at: datetime
    excerpt: str
    """The words around it; what was searched for stands in brackets."""


class Learned(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an agent learned, and where."""

    event_id: str
    session_id: str
    wake_id: str | None
    at: datetime
    said: LearningCaptured


class WordQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which events may be what somebody means: those that hold any of some words."""

    words: str
    agents: tuple[str | None, ...]
    """Whose sessions; None: those without an agent."""
    types: tuple[str, ...] = ()
    """Of which events, and of which tool's, as in `call.asked/bash`; none named: of all."""
    but_types: tuple[str, ...] = ()
    """Not of these."""
    sessions: tuple[str, ...] | None = None
    """Only these; None: all."""
    without: str | None = None
    """Not this one."""
    limit: int = 100


class Worded(msgspec.Struct, frozen=True):
    """An event, and what of it can be found."""

    event: Event
    text: str


class Near(msgspec.Struct, frozen=True):
    """Events that may be meant."""

    events: tuple[Worded, ...]
    unindexed: int = 0
    """How many events of the store were not looked through, as they are too new."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Where what is kept beside the events is not what they add up to."""

    what: str
    """Which row, and which column of it."""
    kept: str | None
    wanted: str | None


class EventTaken(JournalError):
    """Another session has an event of this id."""

    def __init__(self, event_id: str, session_id: str) -> None:
        super().__init__(f"the event {event_id} is in session {session_id} already")
        self.event_id = event_id


class Archive(Protocol):
    """Reads sessions, and puts whole ones in or takes them away."""

    async def sessions(self, query: SessionQuery, /) -> tuple[Session, ...]:
        """The sessions that fit."""
        ...

    async def child_counts(
        self, parents: Sequence[str], query: SessionQuery, /
    ) -> Mapping[str, int]:
        """How many of the sessions that fit stand directly below each; none: not told."""
        ...

    async def heads(self, session_ids: Sequence[str], /) -> Mapping[str, int]:
        """The number of the last event of each of these; those that are not there are left out.

        Cheap: whoever looks on at many sessions learns by it in which of them something is new.
        """
        ...

    async def called(self, beginning: str, /) -> str:
        """The one session whose id begins like this, or the `last`; UnknownSession."""
        ...

    async def messages(
        self, session_id: str, /, *, after: int = -1, limit: int = 1000
    ) -> tuple[Message, ...]:
        """The conversation behind a message's number, in order."""
        ...

    async def search(
        self, words: str, /, *, session_id: str | None = None, limit: int = 20
    ) -> tuple[Found, ...]:
        """The events that hold all the words, the best first."""
        ...

    async def learned(self, agents: Collection[str | None], /) -> tuple[Learned, ...]:
        """What agents learned in all their sessions, the oldest first; every time it was captured.

        None stands for sessions without an agent.
        """
        ...

    async def near(self, wanted: WordQuery, /) -> Near:
        """Events that hold any of the words: those with the most and the rarest first, then the
        newest. However much is kept, the work is bounded: of words that very many hold, only the
        newest events are looked at, and what was appended a moment ago may still be missing.
        """
        ...

    async def restore(self, session_id: str, events: Sequence[Event], /) -> None:
        """Put in a session as it was written down elsewhere: its own ids and times, new hashes.

        Nobody here has asked it for anything: it is not run before somebody does.
        JournalError when there is one of this id; EventTaken.
        """
        ...

    async def delete(self, session_id: str, /, *, seen: Session | None = None) -> None:
        """Take a session away with all that belongs to it; UnknownSession, LeaseHeld.

        With the session as it was seen, whoever runs it, if nothing has happened to it since:
        JournalError otherwise.
        """
        ...

    async def rebuild(self, session_id: str, /, *, repair: bool) -> tuple[Difference, ...]:
        """Add its events up again, and say where that is not what is kept beside them."""
        ...
