"""Versions in PostgreSQL: a write holds a lock of its target from its check to its commit."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import LiteralString

from holdfast.contract.versions import Kept, Version
from holdfast.record.postgres.connection import PostgresConnections
from holdfast.record.postgres.patience import Connection
from holdfast.record.postgres.schema import migrate
from holdfast.record.version_step import Row, row_of, version_of

_COLUMNS = (
    "space, target, number, id, micros, mode, source, session_id, wake_id,"
    " content_hash, size_bytes, preview, previous_id, restored_from"
)
_BY_ID = f"SELECT {_COLUMNS} FROM holdfast.versions WHERE space = %s AND id = %s"
_HISTORY = (
    f"SELECT {_COLUMNS} FROM holdfast.versions WHERE space = %s AND target = %s"
    " ORDER BY number DESC LIMIT %s"
)
_TARGETS = (
    f"SELECT DISTINCT ON (target) {_COLUMNS} FROM holdfast.versions WHERE space = %s"
    " ORDER BY target, number DESC"
)
_CONTENT = "SELECT content FROM holdfast.version_contents WHERE hash = %s"
_KEEP = "INSERT INTO holdfast.version_contents VALUES (%s, %s) ON CONFLICT DO NOTHING"
_ADD = (
    f"INSERT INTO holdfast.versions ({_COLUMNS})"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)
_LOCK_TIMEOUT = "SET LOCAL lock_timeout = '5s'"
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, hashtextextended(%s, 0)))"
"""Two targets with one number wait for each other in vain; that is all."""


class PostgresVersionTables:
    """Opened when they are made; closed once."""

    def __init__(self, url: str, *, are_there: bool = False) -> None:
        """``are_there``: whoever asks has had them made or brought up to date, and may go on with
        them although a newer program has added something since. Blocking; raises
        JournalUnavailable."""
        self._connections = PostgresConnections(url)
        try:
            # Not a borrowed one: that would be waited for, where a refusal is heard at once.
            with (
                self._connections.told(),
                self._connections.connect() as connection,
                connection.patient_for(None),
            ):
                if not are_there:
                    migrate(connection, self._connections.place)
        except BaseException:
            self._connections.close()
            raise

    @contextmanager
    def writing(self, space: str, target: str, /) -> Generator["_Rows"]:
        """A transaction during which nobody else adds to the target."""
        with self._connections.borrowed() as connection, connection.transaction():
            connection.execute(_LOCK_TIMEOUT)
            connection.execute(_LOCK, (target, space))
            yield _Rows(connection)

    @contextmanager
    def reading(self) -> Generator["_Rows"]:
        """Rows that can only be read."""
        with self._connections.borrowed() as connection:
            yield _Rows(connection)

    def close(self) -> None:
        """Let go of the connections."""
        self._connections.close()


class _Rows:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def by_id(self, space: str, version_id: str, /) -> Version | None:
        return next(iter(self._found(_BY_ID, space, version_id)), None)

    def history(self, space: str, target: str, limit: int, /) -> tuple[Version, ...]:
        return self._found(_HISTORY, space, target, limit)

    def targets(self, space: str, /) -> tuple[Version, ...]:
        return self._found(_TARGETS, space)

    def content(self, version: Version, /) -> bytes:
        asked = self._connection.execute(_CONTENT, (version.content_hash,), binary=True)
        row = asked.fetchone()
        return b"" if row is None else bytes(row[0])

    def add(self, new: Kept, /) -> None:
        self._connection.execute(_KEEP, (new.version.content_hash, new.content))
        self._connection.execute(_ADD, row_of(new.version))

    def _found(self, question: LiteralString, *given: object) -> tuple[Version, ...]:
        return tuple(version_of(Row(*row)) for row in self._connection.execute(question, given))
