"""What an index of words has to take up next, and what it answers with: the same for every store.

An event that cannot be read, because it is damaged or a newer holdfast wrote it, says nothing and
cannot be found; all others can. How a store keeps words and finds them is its own matter.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from holdfast.contract.archive import Found
from holdfast.record import searching, sql
from holdfast.record.codec import Stored, UnreadableEvent, event_of, moment_of
from holdfast.record.words import Phrase, excerpt, words_of

AT_ONCE = 500
"""Events that are taken up in one transaction: nobody waits for it for long."""

_UNREADABLE = (UnreadableEvent, ValueError, TypeError, LookupError, OverflowError)
"""A damaged row: what it holds may be of any kind."""

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


def found_among(rows: Iterable[sql.Row], wanted: Sequence[Phrase]) -> list[Found]:
    """Events that were found, as far as they can still be read: the columns of FOUND_EVENTS."""
    found = (_found(Stored(*row), wanted) for row in rows)
    return [one for one in found if one is not None]


def _found(row: Stored, wanted: Sequence[Phrase]) -> Found | None:
    text = _text(row)
    if text is None:
        return None
    return Found(
        session_id=row.session_id,
        sequence=row.sequence,
        event_id=row.id,
        type=row.type,
        at=moment_of(row.micros),
        excerpt=excerpt(text, wanted),
    )


def _entry(row: Stored) -> Entry:
    return Entry(row.session_id, row.sequence, words_of(_text(row) or ""))


def _says_something(entry: Entry) -> bool:
    return bool(entry.words)


def _text(row: Stored) -> str | None:
    """What an event says; None: it cannot be read."""
    try:
        return searching.searchable(event_of(row).payload)
    except _UNREADABLE:
        return None
