"""The journal in PostgreSQL: works of many sessions in one transaction, read and written in bulk.

The sessions of a batch are locked in the order of their ids, so that processes never wait for each
other in a circle. Whatever may have been lost with a connection is told as unavailable, and never
tried a second time.
"""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress

import psycopg

from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.ports import Clock, IdSource
from holdfast.record import sql
from holdfast.record.anchors import NO_ANCHORS, Anchors
from holdfast.record.appending import Appending, SessionWork
from holdfast.record.codec import Chain
from holdfast.record.group_commit import Work, result_of
from holdfast.record.journal import StoreParts
from holdfast.record.owner import Owner
from holdfast.record.postgres.connection import Connection, PostgresConnections
from holdfast.record.postgres.schema import migrate
from holdfast.record.postgres.search import PostgresIndex
from holdfast.record.postgres.statements import query
from holdfast.record.postgres.upkeep import PostgresBroom
from holdfast.record.rows import Desk, Loads, PartRow, SessionRow
from holdfast.record.store import Store, store_of

_LOCKED = f"{sql.SESSION.replace('id = ?', 'id = ANY(?)')} ORDER BY id FOR UPDATE"
_NUMBER = "SELECT nextval('holdfast.session_numbers')"
_LOST = (psycopg.OperationalError, psycopg.InterfaceError)
"""The server is gone, or cannot: whether something was written is not known."""
_PARTS = sql.PART.replace(
    'message_id = ? AND "index" = ?',
    '(message_id, "index") IN (SELECT * FROM unnest(?::text[], ?::bigint[]))',
)


def open_postgres(
    url: str, chain: Chain, clock: Clock, ids: IdSource, anchors: Anchors = NO_ANCHORS
) -> Store:
    """Open it, and make its tables where there are none. Blocking; JournalUnavailable."""
    connections = PostgresConnections(url)
    try:
        committer = PostgresCommitter(connections)
    except BaseException:
        connections.close()
        raise
    reader = PostgresReader(connections)
    parts = StoreParts(committer, reader, chain, clock, ids, quick=False, anchors=anchors)
    return store_of(parts, PostgresIndex(connections), PostgresBroom(connections))


def read_postgres(url: str) -> "PostgresReader":
    """A database that is only read. Blocking; JournalUnavailable."""
    return PostgresReader(PostgresConnections(url))


class PostgresReader:
    """Answers questions on connections that are borrowed."""

    def __init__(self, connections: PostgresConnections) -> None:
        self._connections = connections
        self._owner = Owner()

    def rows(self, statement: str, values: Sequence[object], /) -> list[sql.Row]:
        """What a statement finds; JournalUnavailable."""
        self._owner.check()
        with self._connections.borrowed() as connection:
            return connection.execute(query(statement), values).fetchall()

    @contextmanager
    def snapshot(self) -> Generator["PostgresSnapshot"]:
        """The database as it is at one moment, whatever is written meanwhile."""
        self._owner.check()
        with self._connections.borrowed() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield PostgresSnapshot(connection)

    def close(self) -> None:
        """Let go of the server; in a forked child it is the parent's to do."""
        if self._owner.is_here:
            self._connections.close()


class PostgresSnapshot:
    """Reads in one transaction, which whoever made it ends."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rows(self, statement: str, values: Sequence[object], /) -> list[sql.Row]:
        """What a statement finds."""
        return self._connection.execute(query(statement), values).fetchall()


class PostgresCommitter:
    """Does works in one transaction, on a connection of its own that is made again when lost."""

    def __init__(self, connections: PostgresConnections) -> None:
        self._connections = connections
        self._connection: Connection | None = connections.connect()
        with connections.told():
            migrate(self._connection)

    def commit(
        self, works: Sequence[Work[Desk]], /, *, wait: bool
    ) -> Sequence[object | Exception] | None:
        """Do all and commit once; what fails in an unforeseen way fails alone."""
        try:
            return self._together(works)
        except (*_LOST, JournalUnavailable) as problem:
            self._let_go()
            return [self._said(problem) for _ in works]
        except Exception as problem:  # noqa: BLE001 - whoever asked has to hear of it
            self._let_go()
            if len(works) == 1:
                return [self._said(problem)]
        return [found for work in works for found in self.commit([work], wait=wait) or ()]

    def is_untidy(self) -> bool:
        """The server tidies up by itself."""
        return False

    def tidy(self) -> None:
        """The server does that."""

    def end_tidying(self) -> None:
        """The server does that."""

    def close(self) -> None:
        """Let go of the connection."""
        self._let_go()

    def _together(self, works: Sequence[Work[Desk]]) -> list[object | Exception]:
        if self._connection is None:
            self._connection = self._connections.connect()
        with self._connection.transaction():
            desk = _desk(self._connection, works)
            found = [result_of(work, desk) for work in works]
            with self._connection.pipeline():
                _write(desk, self._connection)
        return found

    def _said(self, problem: Exception) -> Exception:
        """The same, with what to do."""
        is_theirs = isinstance(problem, psycopg.Error)
        return self._connections.said(problem) if is_theirs else problem

    def _let_go(self) -> None:
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
        self._connection = None


def _desk(connection: Connection, works: Sequence[Work[Desk]]) -> Desk:
    """A desk with the rows that works are going to ask for, read at once."""
    wanted = sorted(
        {work.session_id for work in works if isinstance(work, Appending | SessionWork)}
    )
    sessions = {row.id: row for row in _sessions(connection, wanted)}
    places = {
        (call.message_id, call.part)
        for row in sessions.values()
        for call in row.state.calls.values()
    }
    parts = {(part.message_id, part.number): part for part in _parts(connection, places)}

    def one(statement: str, *values: object) -> sql.Row | None:
        return connection.execute(query(statement), values).fetchone()

    def session(session_id: str) -> SessionRow | None:
        return sessions.get(session_id)

    def part(message_id: str, number: int) -> PartRow | None:
        if (message_id, number) in parts:
            return parts[message_id, number]
        row = one(sql.PART, message_id, number)
        return None if row is None else sql.part_of(row)

    def has_event(session_id: str, event_id: str) -> bool:
        return one(sql.EVENT_EXISTS, session_id, event_id) is not None

    def was_called(session_id: str, call_id: str) -> bool:
        return one(sql.WAS_CALLED, session_id, call_id) is not None

    def new_number() -> int:
        (number,) = one(_NUMBER) or (1,)
        return number

    return Desk(Loads(session, part, has_event, was_called, new_number))


def _sessions(connection: Connection, wanted: list[str]) -> Iterable[SessionRow]:
    return map(sql.session_of, connection.execute(query(_LOCKED), (wanted,)).fetchall())


def _parts(connection: Connection, places: set[tuple[str, int]]) -> Iterable[PartRow]:
    if not places:
        return ()
    values = ([message for message, _ in places], [number for _, number in places])
    return map(sql.part_of, connection.execute(query(_PARTS), values).fetchall())


def _write(desk: Desk, connection: Connection) -> None:
    cursor = connection.cursor()
    for statement, rows in sql.writes(desk):
        cursor.executemany(query(statement), rows)
