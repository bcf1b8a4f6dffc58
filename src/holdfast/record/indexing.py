"""What an index of words has to take up next, and what it answers with: the same for every store.

How a store keeps words and finds them is its own matter.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from holdfast.contract.archive import Found
from holdfast.record import sql
from holdfast.record.codec import Stored, event_of, moment_of
from holdfast.record.searching import searchable
from holdfast.record.words import Phrase, excerpt, words_of

AT_ONCE = 500
"""Events that are taken up in one transaction: nobody waits for it for long."""

Asked = Callable[[str, Sequence[object]], list[sql.Row]]
"""Answers a statement that every store understands."""


class Entry(NamedTuple):
    """The words of one event."""

    session_id: str
    sequence: int
    words: list[str]


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


def next_batch(asked: Asked) -> Batch | None:
    """What comes next; None: everything can be found."""
    batch = Batch([], [])
    room = AT_ONCE
    for session_id, before in asked(sql.BEHIND, (AT_ONCE,)):
        rows = [Stored(*row[:10]) for row in asked(sql.EVENTS_AFTER, (session_id, before, room))]
        if rows:  # else it was deleted a moment ago
            batch.entries.extend(filter(_says_something, map(_entry, rows)))
            batch.reached.append(Reached(session_id, before, rows[-1].sequence, rows[-1].hash))
        room -= len(rows)
        if not room:
            break
    return batch if batch.reached else None


def found_in(row: sql.Row, wanted: Sequence[Phrase]) -> Found:
    """An event that was found: the columns of FOUND_EVENTS."""
    stored = Stored(*row)
    return Found(
        session_id=stored.session_id,
        sequence=stored.sequence,
        event_id=stored.id,
        type=stored.type,
        at=moment_of(stored.micros),
        excerpt=excerpt(searchable(event_of(stored).payload), wanted),
    )


def _entry(row: Stored) -> Entry:
    return Entry(row.session_id, row.sequence, words_of(searchable(event_of(row).payload)))


def _says_something(entry: Entry) -> bool:
    return bool(entry.words)
