"""Sweeping a database. The server uses again what becomes free, and gives it back as it can."""

from typing import LiteralString

from holdfast.contract.upkeep import Swept
from holdfast.record import sql
from holdfast.record.postgres.connection import PostgresConnections
from holdfast.record.postgres.patience import Connection
from holdfast.record.postgres.search_tables import LOCK
from holdfast.record.postgres.statements import query

_COUNTS = (
    f"SELECT (SELECT count(*) FROM search WHERE {sql.LOST_ENTRIES}), count(*),"
    f" coalesce(sum(length(content)), 0)::bigint FROM version_contents WHERE {sql.LOST_CONTENTS}"
)
_REMOVALS = (
    f"DELETE FROM search WHERE {sql.LOST_ENTRIES}",
    f"DELETE FROM search_places WHERE {sql.LOST_ENTRIES}",
    f"DELETE FROM version_contents WHERE {sql.LOST_CONTENTS}",
    f"DELETE FROM workspace_pieces WHERE {sql.LOST_ENTRIES}",
)
_SIZE: LiteralString = "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class"
_OURS: LiteralString = " WHERE relnamespace = 'holdfast'::regnamespace AND relkind = 'r'"
_TABLES: tuple[LiteralString, ...] = (
    *("chat_sessions", "events", "chat_messages", "chat_parts", "session_briefs"),
    *("search", "search_places", "version_contents", "versions", "workspace_pieces"),
)


class PostgresBroom:
    """On connections that are borrowed."""

    def __init__(self, connections: PostgresConnections) -> None:
        self._connections = connections

    def sweep(self, *, dry: bool) -> Swept:
        """Remove it; ``dry``: only say what."""
        with (
            self._connections.borrowed() as connection,
            connection.patient_for(None),
            connection.transaction(),
        ):
            if not dry:
                connection.execute("SET LOCAL lock_timeout = '5s'")
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
                # Who keeps a content first writes that, then the version that refers to it.
                connection.execute("LOCK holdfast.version_contents IN SHARE ROW EXCLUSIVE MODE")
            entries, contents, size = connection.execute(query(_COUNTS)).fetchone() or (0, 0, 0)
            for statement in () if dry else _REMOVALS:
                connection.execute(query(statement))
        return Swept(entries=entries, contents=contents, bytes=size)

    def compact(self) -> int:
        """Have the server look for what is free now; how many bytes it gave back."""
        with self._connections.borrowed() as connection, connection.patient_for(None):
            before = _bytes(connection)
            for table in _TABLES:
                connection.execute(f"VACUUM holdfast.{table}")
            return max(0, before - _bytes(connection))


def _bytes(connection: Connection) -> int:
    (size,) = connection.execute(_SIZE + _OURS).fetchone() or (0,)
    return int(size or 0)
