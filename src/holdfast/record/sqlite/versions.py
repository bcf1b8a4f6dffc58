"""Versions in the SQLite file: a write holds the file's one lock from its check to its commit."""

import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.versions import MAX_CONTENT_BYTES, Kept, Version
from holdfast.record.sqlite.connection import (
    BUSY_SECONDS,
    Durability,
    open_reader,
    open_writer,
    told,
)
from holdfast.record.version_step import Row, row_of, version_of
from holdfast.record.versions import Versions

_COLUMNS = ", ".join(Row._fields)
_BY_ID = f"SELECT {_COLUMNS} FROM versions WHERE space = ? AND id = ?"
_HISTORY = (
    f"SELECT {_COLUMNS} FROM versions WHERE space = ? AND target = ? ORDER BY number DESC LIMIT ?"
)
_TARGETS = (
    f"SELECT {_COLUMNS} FROM versions AS one WHERE space = ? AND number ="
    " (SELECT max(number) FROM versions WHERE space = one.space AND target = one.target)"
    " ORDER BY target"
)
_CONTENT = "SELECT content FROM version_contents WHERE hash = ?"
_KEEP = "INSERT OR IGNORE INTO version_contents VALUES (?, ?)"
_ADD = f"INSERT INTO versions ({_COLUMNS}) VALUES ({', '.join('?' for _ in Row._fields)})"


def open_versions(
    path: Path,
    clock: Clock,
    ids: IdSource,
    durability: Durability = "process",
    most_bytes: int = MAX_CONTENT_BYTES,
) -> Versions:
    """The versions in a file. Blocking; JournalUnavailable."""
    return Versions(SqliteVersionTables(path, durability), clock, ids, most_bytes)


class SqliteVersionTables:
    """Opened when they are made; closed once. Beside a journal in the same file, or alone."""

    def __init__(self, path: Path, durability: Durability = "process") -> None:
        """Blocking; raises JournalUnavailable."""
        self._path = path
        self._used = threading.Lock()
        self._closed = False
        self._connection = open_writer(path, durability)
        # A thread waits here, no event loop; and there may be nobody else to move the log.
        self._connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
        self._connection.execute("PRAGMA wal_autocheckpoint = 1000")

    @contextmanager
    def writing(self, _space: str, _target: str, /) -> Generator["_Rows"]:
        """A transaction during which nobody else adds to anything."""
        with self._used, told(self._path):
            self._check_open()
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield _Rows(self._connection)
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Generator["_Rows"]:
        """Rows that can only be read."""
        self._check_open()
        with closing(open_reader(self._path)) as connection, told(self._path):
            yield _Rows(connection)

    def close(self) -> None:
        """Let go of the file, when nobody writes."""
        with self._used:
            self._closed = True
            self._connection.close()

    def _check_open(self) -> None:
        if self._closed:
            raise JournalUnavailable(f"{self._path}: the store is closed")


class _Rows:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def by_id(self, space: str, version_id: str, /) -> Version | None:
        return next(iter(self._found(_BY_ID, space, version_id)), None)

    def history(self, space: str, target: str, limit: int, /) -> tuple[Version, ...]:
        return self._found(_HISTORY, space, target, limit)

    def targets(self, space: str, /) -> tuple[Version, ...]:
        return self._found(_TARGETS, space)

    def content(self, version: Version, /) -> bytes:
        row = self._connection.execute(_CONTENT, (version.content_hash,)).fetchone()
        return b"" if row is None else row[0]

    def add(self, new: Kept, /) -> None:
        self._connection.execute(_KEEP, (new.version.content_hash, new.content))
        self._connection.execute(_ADD, row_of(new.version))

    def _found(self, question: str, *given: object) -> tuple[Version, ...]:
        return tuple(version_of(Row(*row)) for row in self._connection.execute(question, given))
