"""What an index of words has to take up next, and what it answers with: the same for every store.

An event that cannot be read, because it is damaged or a newer holdfast wrote it, says nothing and
cannot be found; all others can. How a store keeps words and finds them is its own matter.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from holdfast.contract.archive import Found, Worded
from holdfast.record import searching, sql
from holdfast.record.codec import Stored, UnreadableEvent, event_of, moment_of
from holdfast.record.words import Phrase, excerpt, words_of

AT_ONCE = 500
"""Events that are taken up in one transaction: nobody waits for it for long."""
AT_A_QUESTION = 200
"""Events that are taken up before a question for any words is answered."""

_UNREADABLE = (UnreadableEvent, ValueError, TypeError, LookupError, OverflowError)
"""A damaged row: what it holds may be of any kind."""

Asked = Callable[[str, Sequence[object]], list[sql.Row]]
"""Answers a statement that every store understands."""


class Entry(NamedTuple):
    """The words of one event, and what it is."""

    session_id: str
    number: int
    """Of the session."""
    sequence: int
    words: list[str]
    agent: str | None
    """Whose session; empty: nobody's; None: not known."""
    kind: str


class Reached(NamedTuple):
    """How far the index came in a session."""

    session_id: str
    before: int
    sequence: int
    hash: bytes
    """Of the event there: while the session has it, it is the same session."""


class Batch(NamedTuple):
    """What is taken up in one transaction."""

    entries: list[Entry]
    reached: list[Reached]
    size: int
    """How many events were looked at."""


class _Behind(NamedTuple):
    session_id: str
    before: int
    number: int
    agent: str | None


class _Owned(msgspec.Struct):
    """Of a session's state, whose it is."""

    agent_id: str | None = None


_owned = msgspec.json.Decoder(_Owned).decode


class Backlog:
    """What cannot be found yet, of the last active sessions first."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._behind: deque[_Behind] = deque()

    def forget(self) -> None:
        """Somebody else took something up: see again what is left."""
        self._behind.clear()

    def look(self) -> int:
        """See anew what is left; how many events that are."""
        self._behind.clear()
        left = 0
        for session_id, before, number, told, of_all in self._asked(sql.BEHIND, (AT_ONCE,)):
            self._behind.append(_Behind(session_id, before, number, _agent(told)))
            left = int(of_all)
        return left

    def next(self, most: int = AT_ONCE) -> Batch | None:
        """What comes next; None: everything can be found."""
        is_fresh = not self._behind
        if is_fresh:
            self.look()
        batch, size = Batch([], [], 0), 0
        while self._behind and size < most:
            here = self._behind.popleft()
            bounds = (here.session_id, here.before, most - size)
            rows = [Stored(*row[:10]) for row in self._asked(sql.EVENTS_AFTER, bounds)]
            size += len(rows)
            if rows:  # else it was deleted a moment ago
                last = rows[-1]
                batch.entries.extend(_entries(rows, here))
                batch.reached.append(
                    Reached(here.session_id, here.before, last.sequence, last.hash)
                )
            if size >= most and rows:
                self._behind.appendleft(here._replace(before=rows[-1].sequence))
        if not batch.reached and not is_fresh:
            return self.next(most)  # all of what was seen before is done
        return batch._replace(size=size) if batch.reached else None


def found_among(rows: Iterable[sql.Row], wanted: Sequence[Phrase]) -> list[Found]:
    """Events that were found, as far as they can still be read: the columns of FOUND_EVENTS."""
    found = (_found(Stored(*row), wanted) for row in rows)
    return [one for one in found if one is not None]


def worded(rows: Iterable[sql.Row]) -> list[Worded]:
    """The same rows, as events with their texts."""
    read = (worded_of(Stored(*row)) for row in rows)
    return [one for one in read if one is not None]


def worded_of(row: Stored) -> Worded | None:
    """An event with its text; None: it cannot be read."""
    try:
        event = event_of(row)
        return Worded(event, searching.searchable(event.payload))
    except _UNREADABLE:
        return None


def _found(row: Stored, wanted: Sequence[Phrase]) -> Found | None:
    read = worded_of(row)
    if read is None:
        return None
    return Found(
        session_id=row.session_id,
        sequence=row.sequence,
        event_id=row.id,
        type=row.type,
        at=moment_of(row.micros),
        excerpt=excerpt(read.text, wanted),
    )


def _entries(rows: Iterable[Stored], here: _Behind) -> Iterable[Entry]:
    for row in rows:
        read = worded_of(row)
        words = [] if read is None else words_of(read.text)
        if read is not None and words:
            kind = searching.kind_of(read.event.payload)
            yield Entry(here.session_id, here.number, row.sequence, words, here.agent, kind)


def _agent(state: str) -> str | None:
    """Whose session it is; None: its row is damaged."""
    try:
        return _owned(state).agent_id or ""
    except (msgspec.MsgspecError, UnicodeError, TypeError):
        return None
