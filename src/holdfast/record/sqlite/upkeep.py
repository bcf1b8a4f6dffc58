"""Sweeping a SQLite file. Pages that become free are used again; compacting gives them back."""

import sqlite3
from contextlib import closing
from pathlib import Path

from holdfast.contract.upkeep import Swept
from holdfast.record import sql
from holdfast.record.sqlite.connection import open_tidier, told

_LOST_WORDS = f"id / {sql.SPAN} NOT IN (SELECT number FROM chat_sessions)"
_COUNTS = (
    f"SELECT (SELECT count(*) FROM search_docsize WHERE {_LOST_WORDS}), count(*),"
    f" coalesce(sum(length(content)), 0) FROM version_contents WHERE {sql.LOST_CONTENTS}"
)
_REMOVALS = (
    f"DELETE FROM search WHERE rowid IN (SELECT id FROM search_docsize WHERE {_LOST_WORDS})",
    f"DELETE FROM search_places WHERE {sql.LOST_ENTRIES}",
    f"DELETE FROM version_contents WHERE {sql.LOST_CONTENTS}",
    f"DELETE FROM workspace_pieces WHERE {sql.LOST_ENTRIES}",
)


class SqliteBroom:
    """Each on a connection of its own: what fails is taken back when that is closed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def sweep(self, *, dry: bool) -> Swept:
        """Remove it; ``dry``: only say what."""
        with told(self._path), closing(open_tidier(self._path)) as connection:
            connection.execute("BEGIN" if dry else "BEGIN IMMEDIATE")
            entries, contents, size = connection.execute(_COUNTS).fetchone()
            if not dry:
                for statement in _REMOVALS:
                    connection.execute(statement)
                connection.execute("COMMIT")
        return Swept(entries=entries, contents=contents, bytes=size)

    def compact(self) -> int:
        """Give back what is free; how many bytes that was."""
        with told(self._path), closing(open_tidier(self._path)) as connection:
            before = self._bytes()
            connection.execute("VACUUM")
            _checkpoint(connection)
            return max(0, before - self._bytes())

    def _bytes(self) -> int:
        """Of the file and what is written ahead of it."""
        ahead = self._path.with_name(f"{self._path.name}-wal")
        return sum(path.stat().st_size for path in (self._path, ahead) if path.exists())


def _checkpoint(connection: sqlite3.Connection) -> None:
    """The file itself is smaller only once the log has been moved into it."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
