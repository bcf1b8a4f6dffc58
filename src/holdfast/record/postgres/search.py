"""Full text of a database's events: it lags behind the journal, and catches up when asked.

Who catches up holds a lock that appends never ask for. Words come taken apart and folded, so that
neither the server's locale nor a language's configuration decides what is found.
"""

from collections.abc import Iterable, Sequence

from holdfast.contract.archive import Found
from holdfast.record import indexing, sql
from holdfast.record.postgres.connection import PostgresConnections
from holdfast.record.postgres.patience import Connection
from holdfast.record.postgres.search_tables import LOCK
from holdfast.record.postgres.statements import query
from holdfast.record.words import Phrase, phrases_of

_MOST_PLACES = 255
"""Of one word in one text; PostgreSQL keeps no more."""
_ENTRY = "INSERT INTO holdfast.search (session_id, sequence, words) VALUES (%s, %s, %s::tsvector)"
_FIND = (
    f"SELECT {sql.FOUND_EVENTS} FROM search JOIN chat_sessions ON chat_sessions.id = session_id"
    f" JOIN events ON place = {sql.FIRST} + search.sequence"
    " WHERE words @@ ?::tsquery AND (?::text IS NULL OR session_id = ?)"
    " ORDER BY ts_rank(words, ?::tsquery, 1) DESC, micros DESC, session_id, place DESC LIMIT ?"
)


class PostgresIndex:
    """Finds words, on connections that are borrowed. Blocking."""

    def __init__(self, connections: PostgresConnections) -> None:
        self._connections = connections

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


def _catch_up(connection: Connection) -> None:
    def asked(statement: str, values: Sequence[object]) -> list[sql.Row]:
        return connection.execute(query(statement), values).fetchall()

    while asked(sql.BEHIND, (1,)):
        with connection.transaction():
            connection.execute("SET LOCAL lock_timeout = '5s'")
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            batch = indexing.next_batch(asked)
            if batch is None:
                return
            cursor = connection.cursor()
            entries = [(one.session_id, one.sequence, _kept(one.words)) for one in batch.entries]
            cursor.executemany(_ENTRY, entries)
            places = [(one.session_id, one.sequence) for one in batch.reached]
            cursor.executemany(query(sql.INDEXED_TO), places)


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
