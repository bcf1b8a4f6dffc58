"""Full text of a database's events: it lags behind the journal, and catches up when asked.

Who catches up holds a lock that appends never ask for. Words come taken apart and folded, so that
neither the server's locale nor a language's configuration decides what is found. Whoever looks for
any of some words waits for a bounded part of what is new; a thread takes up the rest.
"""

import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import LiteralString

from psycopg import errors

from holdfast.contract.archive import Found, Near, WordQuery
from holdfast.contract.journal import JournalUnavailable
from holdfast.record import indexing, nearness, sql
from holdfast.record.owner import Owner
from holdfast.record.postgres.connection import PostgresConnections
from holdfast.record.postgres.patience import Connection
from holdfast.record.postgres.search_tables import LOCK
from holdfast.record.postgres.statements import query
from holdfast.record.words import Phrase, phrases_of

_LONG: LiteralString = "SET LOCAL lock_timeout = '5s'"
_PATIENCE: LiteralString = "SET LOCAL lock_timeout = '200ms'"
_MOST_PLACES = 255
"""Of one word in one text; PostgreSQL keeps no more."""
_ENTRY = (
    "INSERT INTO holdfast.search (session_id, sequence, words, agent, kind)"
    " VALUES (%s, %s, %s::tsvector, %s, %s)"
)
_FIND = (
    f"SELECT {sql.FOUND_EVENTS} FROM search JOIN chat_sessions ON chat_sessions.id = session_id"
    f" JOIN events ON place = {sql.FIRST} + search.sequence"
    " WHERE words @@ ?::tsquery AND (?::text IS NULL OR session_id = ?)"
    " ORDER BY ts_rank(words, ?::tsquery, 1) DESC, micros DESC, session_id, place DESC LIMIT ?"
)
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM search WHERE words @@ ?::tsquery LIMIT ?) AS counted"
_LIST = "SELECT session_id, sequence FROM search WHERE words @@ ?::tsquery AND agent = ANY(?)"
_OF_TYPES = " AND (kind = ANY(?) OR split_part(kind, '/', 1) = ANY(?))"
_BUT_TYPES = " AND NOT (kind = ANY(?) OR split_part(kind, '/', 1) = ANY(?))"
_OF_SESSIONS = " AND session_id = ANY(?)"
_WITHOUT = " AND session_id <> ?"
_NEWEST = " ORDER BY session_id DESC, sequence DESC LIMIT ?"
_AT = (
    f"SELECT {sql.FOUND_EVENTS} FROM chat_sessions, events"
    f" WHERE chat_sessions.id = ? AND place = {sql.FIRST} + ?"
)


class PostgresIndex:
    """Finds words, on connections that are borrowed. Blocking."""

    def __init__(self, connections: PostgresConnections) -> None:
        self._connections = connections
        self._owner = Owner()
        self._thread: threading.Thread | None = None
        self._is_closed = threading.Event()

    def find(self, words: str, session_id: str | None, limit: int, /) -> list[Found]:
        """The events that hold all the words, the best first."""
        wanted = phrases_of(words)
        if not wanted:
            return []
        asked = _asked_for(wanted)
        with self._connections.borrowed() as connection:
            _catch_up(connection)
            values = (asked, session_id, session_id, asked, max(0, limit))
            rows = connection.execute(query(_FIND), values).fetchall()
        return indexing.found_among(rows, wanted)

    def near(self, wanted: WordQuery, /) -> Near:
        """The events that hold any of the words; the rest of what it lags behind is left to a
        thread."""
        asked = nearness.asked_of(wanted)
        with self._connections.borrowed() as connection:
            behind = self._taken_up(connection)
            words = _Words(connection, nearness.scope_of(wanted))
            places = nearness.nearest(words, asked, wanted.limit)
            found = (connection.execute(query(_AT), place).fetchone() for place in places)
            rows = [row for row in found if row is not None]
        return Near(tuple(indexing.worded(rows)), behind)

    def close(self) -> None:
        """End what is taken up; whoever made the connections closes them."""
        self._is_closed.set()
        if self._thread is not None and self._owner.is_here:
            self._thread.join()

    def _taken_up(self, connection: Connection) -> int:
        """Take up a bounded part, unless a thread is at much; how many events are left."""
        if not (behind := _unindexed(connection)):
            return 0
        at_it = self._thread is not None and self._thread.is_alive()
        # A thread that is at it may have seen the last of it already: what is little is taken here.
        if at_it and behind > indexing.AT_A_QUESTION:
            return behind
        # Who else takes it up may take long: then the answer does without the newest.
        with suppress(errors.LockNotAvailable):
            taken = _take_up(connection, indexing.AT_A_QUESTION, _PATIENCE)
            behind = behind - taken if taken else _unindexed(connection)
        if behind > 0 and not at_it and not self._is_closed.is_set():
            self._thread = threading.Thread(
                target=self._goes_on, name="holdfast indexing", daemon=True
            )
            self._thread.start()
        return max(0, behind)

    def _goes_on(self) -> None:
        """Take up what is left. Whoever asks next does it where this fails."""
        with suppress(JournalUnavailable), self._connections.borrowed() as connection:
            while not self._is_closed.is_set() and _take_up(connection, indexing.AT_ONCE):
                pass


class _Words:
    """The words of a database, in a scope."""

    def __init__(self, connection: Connection, scope: "nearness.Scope") -> None:
        self._connection = connection
        self._statement = _LIST
        self._values: list[object] = [list(scope.agents)]
        if scope.types:
            self._statement += _OF_TYPES
            self._values += [list(scope.types), list(scope.types)]
        if scope.but_types:
            self._statement += _BUT_TYPES
            self._values += [list(scope.but_types), list(scope.but_types)]
        if scope.sessions is not None:
            self._statement += _OF_SESSIONS
            self._values.append(list(scope.sessions))
        if scope.without is not None:
            self._statement += _WITHOUT
            self._values.append(scope.without)

    def count(self, phrase: Phrase, most: int, /) -> int:
        values = (_asked_for([phrase]), most)
        (found,) = self._connection.execute(query(_COUNT), values).fetchone() or (0,)
        return int(found)

    def every(self, phrase: Phrase, /) -> Sequence[tuple[str, int]]:
        return self.places([phrase], nearness.MOST_KNOWN)

    def places(self, phrases: Sequence[Phrase], most: int, /) -> Sequence[tuple[str, int]]:
        values = (_asked_for(phrases), *self._values, most)
        return self._connection.execute(query(self._statement + _NEWEST), values).fetchall()


def _catch_up(connection: Connection) -> None:
    while _take_up(connection, indexing.AT_ONCE):
        pass


def _take_up(connection: Connection, most: int, patience: LiteralString = _LONG) -> int:
    """Take up what comes next; how many events that were. ``patience``: for whoever else does."""

    def asked(statement: str, values: Sequence[object]) -> list[sql.Row]:
        return connection.execute(query(statement), values).fetchall()

    if not asked(sql.BEHIND, (1,)):
        return 0
    with connection.transaction():
        connection.execute(patience)
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        batch = indexing.Backlog(asked).next(most)
        if batch is None:
            return 0
        cursor = connection.cursor()
        cursor.executemany(_ENTRY, list(map(_row, batch.entries)))
        places = [(one.session_id, one.sequence) for one in batch.reached]
        cursor.executemany(query(sql.INDEXED_TO), places)
    return batch.size


def _row(entry: "indexing.Entry") -> tuple[object, ...]:
    return (entry.session_id, entry.sequence, _kept(entry.words), entry.agent, entry.kind)


def _unindexed(connection: Connection) -> int:
    (count,) = connection.execute(query(sql.UNINDEXED)).fetchone() or (0,)
    return int(count)


def _kept(words: Iterable[str]) -> str:
    """Words with their places, as a tsvector is written; they have no sign that it would mind."""
    places: dict[str, list[str]] = {}
    for at, word in enumerate(words, 1):
        here = places.setdefault(word, [])
        if len(here) < _MOST_PLACES:
            here.append(str(at))
    return " ".join(f"'{word}':{','.join(here)}" for word, here in places.items())


def _asked_for(wanted: Iterable[Phrase]) -> str:
    phrases = (" <-> ".join(f"'{word}'" for word in phrase) for phrase in wanted)
    return " & ".join(f"({phrase})" for phrase in phrases)
