"""How a database is: looked at without changing it."""

from contextlib import closing

from holdfast.contract.journal import JournalUnavailable
from holdfast.record.postgres.connection import PostgresConnections
from holdfast.record.postgres.patience import Connection
from holdfast.record.postgres.schema import MIGRATIONS, may_change, not_theirs, version_of
from holdfast.record.postgres.statements import NOW
from holdfast.record.store import StoreHealth

_READ_ONLY = "SELECT current_setting('transaction_read_only')::bool OR pg_is_in_recovery()"
_MAY_MAKE = (
    "SELECT CASE WHEN to_regnamespace('holdfast') IS NULL"
    " THEN has_database_privilege(current_database(), 'CREATE')"
    " ELSE has_schema_privilege('holdfast', 'CREATE') END"
)
_HOLDERS = (
    "SELECT DISTINCT holder FROM holdfast.chat_sessions"
    f" WHERE holder IS NOT NULL AND until > {NOW} ORDER BY holder"
)
_MAY_WRITE = "SELECT has_table_privilege('holdfast.events', 'INSERT')"


def check_postgres(url: str) -> StoreHealth:
    """Can it be written, and by this program? Blocking; JournalUnavailable."""
    connections = PostgresConnections(url)
    with closing(connections), connections.told(), connections.connect() as connection:
        if _says(connection, _READ_ONLY):
            raise JournalUnavailable(
                f"{connections.place}: it can only be read; name the server that can be written"
            )
        version = version_of(connection)
        if version < len(MIGRATIONS) and not may_change(connection):
            raise not_theirs(version, connections.place)
        if not _says(connection, _MAY_WRITE if version == len(MIGRATIONS) else _MAY_MAKE):
            raise JournalUnavailable(
                f"{connections.place}: the user may not write there; grant CREATE on the database,"
                " or name its owner"
            )
        return StoreHealth(connections.place, version if version > 0 else None, len(MIGRATIONS))


def holders_in(url: str) -> tuple[str, ...]:
    """Whoever runs a session at this moment, by what leases say. Blocking; JournalUnavailable."""
    connections = PostgresConnections(url)
    with closing(connections), connections.told(), connections.connect() as connection:
        if version_of(connection) <= 0:
            return ()
        found = connection.execute(_HOLDERS.encode()).fetchall()
    return tuple(str(holder) for (holder,) in found)


def _says(connection: Connection, question: str) -> bool:
    (answer,) = connection.execute(question.encode()).fetchone() or (False,)
    return bool(answer)
