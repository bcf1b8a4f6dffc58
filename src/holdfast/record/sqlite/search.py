"""Full text of a SQLite file's events: it lags behind the journal, and catches up when asked."""

import sqlite3
import threading
from pathlib import Path

from holdfast.contract.archive import Found
from holdfast.record import sql
from holdfast.record.codec import Stored, event_of, moment_of
from holdfast.record.searching import searchable, wanted_words
from holdfast.record.sqlite.connection import open_tidier, told

_AT_ONCE = 500
"""Events that are added in one transaction: nobody who appends waits for long."""
_BEHIND = (
    "SELECT id, coalesce(search_places.sequence, 0) FROM chat_sessions"
    " LEFT JOIN search_places ON session_id = id"
    " WHERE chat_sessions.sequence > coalesce(search_places.sequence, 0) LIMIT 1"
)
_PLACE = (
    "INSERT INTO search_places VALUES (?, ?)"
    " ON CONFLICT (session_id) DO UPDATE SET sequence = excluded.sequence"
)
_GONE = "DELETE FROM search WHERE session_id NOT IN (SELECT id FROM chat_sessions)"
_PLACES_GONE = "DELETE FROM search_places WHERE session_id NOT IN (SELECT id FROM chat_sessions)"
_FIND = (
    "SELECT search.session_id, events.sequence, events.id, type, micros,"
    " snippet(search, 0, '[', ']', '…', 12)"
    " FROM search JOIN events"
    " ON events.session_id = search.session_id AND events.sequence = search.sequence"
    " WHERE search MATCH ? AND (? IS NULL OR search.session_id = ?) ORDER BY rank LIMIT ?"
)


class SqliteIndex:
    """Finds words. Blocking; one at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def find(self, words: str, session_id: str | None, limit: int, /) -> list[Found]:
        """The events that hold all the words, the best first."""
        wanted = " ".join(f'"{word}"' for word in wanted_words(words))
        if not wanted:
            return []
        with self._lock, told(self._path):
            connection = open_tidier(self._path)
            try:
                _catch_up(connection)
                rows = connection.execute(_FIND, (wanted, session_id, session_id, limit)).fetchall()
            finally:
                connection.close()
        return [
            Found(
                session_id=session,
                sequence=sequence,
                event_id=event_id,
                type=kind,
                at=moment_of(micros),
                excerpt=excerpt,
            )
            for session, sequence, event_id, kind, micros, excerpt in rows
        ]


def _catch_up(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(_GONE)
    connection.execute(_PLACES_GONE)
    connection.execute("COMMIT")
    while True:
        connection.execute("BEGIN IMMEDIATE")
        behind = connection.execute(_BEHIND).fetchone()
        if behind is not None:
            _add(connection, *behind)
        connection.execute("COMMIT")
        if behind is None:
            return


def _add(connection: sqlite3.Connection, session_id: str, after: int) -> None:
    rows = connection.execute(sql.EVENTS_AFTER, (session_id, after, _AT_ONCE)).fetchall()
    texts = [(searchable(event_of(Stored(*row[:10])).payload), session_id, row[1]) for row in rows]
    connection.executemany(
        "INSERT INTO search (text, session_id, sequence) VALUES (?, ?, ?)",
        [entry for entry in texts if entry[0]],
    )
    connection.execute(_PLACE, (session_id, rows[-1][1]))
