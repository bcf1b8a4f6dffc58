"""The journal in PostgreSQL: opened, and read on connections that are borrowed."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial

from holdfast.contract.ports import Clock, IdSource, SharedClock
from holdfast.record import sql
from holdfast.record.anchors import NO_ANCHORS, Anchors
from holdfast.record.codec import Chain
from holdfast.record.journal import StoreParts
from holdfast.record.owner import Owner
from holdfast.record.postgres.carried import PostgresCarried
from holdfast.record.postgres.committing import PostgresCommitter
from holdfast.record.postgres.connection import PostgresConnections
from holdfast.record.postgres.outbox import PostgresOutbox
from holdfast.record.postgres.patience import Connection
from holdfast.record.postgres.schema import check_up_to_date
from holdfast.record.postgres.search import PostgresIndex
from holdfast.record.postgres.statements import query
from holdfast.record.postgres.upkeep import PostgresBroom
from holdfast.record.postgres.versions import PostgresVersionTables
from holdfast.record.store import Store, store_of
from holdfast.record.versions import Versions


def open_postgres(
    url: str, chain: Chain, clock: Clock, ids: IdSource, anchors: Anchors = NO_ANCHORS
) -> Store:
    """Open it, and make its tables where there are none. Blocking; JournalUnavailable."""
    connections = PostgresConnections(url)
    shared = clock if isinstance(clock, SharedClock) else None
    try:
        committer = PostgresCommitter(connections, shared)
    except BaseException:
        connections.close()
        raise
    reader = PostgresReader(connections)
    parts = StoreParts(committer, reader, chain, clock, ids, quick=False, anchors=anchors)
    versions = partial(_versions, url, clock, ids)
    store = store_of(parts, PostgresIndex(connections), PostgresBroom(connections), versions)
    outbox, carried = PostgresOutbox(connections, shared), partial(PostgresCarried, connections)
    return store._replace(outbox=outbox, carried=carried)


def _versions(url: str, clock: Clock, ids: IdSource) -> Versions:
    return Versions(PostgresVersionTables(url, are_there=True), clock, ids)


def read_postgres(url: str) -> "PostgresReader":
    """A database that is only read. Blocking; JournalUnavailable."""
    connections = PostgresConnections(url)
    try:
        # Not a borrowed one: that would be waited for, where a refusal is heard at once.
        with connections.told(), connections.connect() as connection:
            check_up_to_date(connection, connections.place)
    except BaseException:
        connections.close()
        raise
    return PostgresReader(connections)


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
