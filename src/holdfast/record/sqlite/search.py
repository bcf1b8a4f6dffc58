"""Full text of a SQLite file's events: it lags behind the journal, and catches up when asked.

Events are read and taken apart before anything is locked; whoever appends waits for the writing
alone, and that is short.
"""

import sqlite3
import threading
from contextlib import closing
from functools import partial
from pathlib import Path

from holdfast.contract.archive import Found
from holdfast.record import indexing, sql
from holdfast.record.sqlite.connection import open_tidier, told
from holdfast.record.sqlite.legible import fetched
from holdfast.record.words import phrases_of

_PLACE = "SELECT sequence FROM search_places WHERE session_id = ?"
_SAME = f"{sql.EVENT_AT} AND events.hash = ?"
_ENTRY = "INSERT INTO search_entries (session_id, sequence) VALUES (?, ?)"
_WORDS = "INSERT INTO search (rowid, words) VALUES (?, ?)"
_FIND = (
    f"SELECT {sql.FOUND_EVENTS} FROM search JOIN search_entries ON search_entries.id = search.rowid"
    " JOIN chat_sessions ON chat_sessions.id = session_id"
    f" JOIN events ON place = {sql.FIRST} + search_entries.sequence"
    " WHERE search MATCH ? AND (? IS NULL OR session_id = ?)"
    " ORDER BY rank, search.rowid DESC LIMIT ?"
)


class SqliteIndex:
    """Finds words. Blocking; one at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def find(self, words: str, session_id: str | None, limit: int, /) -> list[Found]:
        """The events that hold all the words, the best first."""
        wanted = phrases_of(words)
        if not wanted:
            return []
        asked = " ".join(f'"{" ".join(phrase)}"' for phrase in wanted)
        with self._lock, told(self._path), closing(open_tidier(self._path)) as connection:
            _catch_up(connection)
            values = (asked, session_id, session_id, max(0, limit))
            rows = fetched(connection, _FIND, values)
        return indexing.found_among(rows, wanted)


def _catch_up(connection: sqlite3.Connection) -> None:
    tried: list[indexing.Reached] = []
    while batch := indexing.next_batch(partial(fetched, connection)):
        if batch.reached == tried:
            return  # nobody else takes it up either: a row of it is damaged
        tried = batch.reached
        # What fails is taken back by whoever closes the connection.
        connection.execute("BEGIN IMMEDIATE")
        if all(_is_next(connection, one) for one in batch.reached):
            _add(connection, batch)
        connection.execute("COMMIT")


def _is_next(connection: sqlite3.Connection, reached: "indexing.Reached") -> bool:
    """Whether nobody took it up meanwhile, and the session is still the one that was read."""
    (place,) = connection.execute(_PLACE, (reached.session_id,)).fetchone() or (0,)
    same = (reached.session_id, reached.sequence, reached.hash)
    return place == reached.before and connection.execute(_SAME, same).fetchone() is not None


def _add(connection: sqlite3.Connection, batch: "indexing.Batch") -> None:
    for entry in batch.entries:
        added = connection.execute(_ENTRY, (entry.session_id, entry.sequence))
        connection.execute(_WORDS, (added.lastrowid, " ".join(entry.words)))
    places = [(one.session_id, one.sequence) for one in batch.reached]
    connection.executemany(sql.INDEXED_TO, places)
