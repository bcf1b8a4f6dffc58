"""A store that is not there: no file, an empty one, or a database without tables."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from holdfast.record.journal import Rows
from holdfast.record.sql import Row

SQLITE_TABLES = "SELECT 1 FROM sqlite_master WHERE name = 'chat_sessions'"
POSTGRES_TABLES = "SELECT 1 WHERE to_regclass('chat_sessions') IS NOT NULL"
"""The store puts the name into its own schema, as it does in every statement."""


def is_made(reader: Rows, tables: str) -> bool:
    """Whether there are tables that can be asked. Blocking; JournalUnavailable."""
    return bool(reader.rows(tables, ()))


class AbsentStore:
    """Answers like a store in which nothing is left."""

    def rows(self, _statement: str, _values: Sequence[object], /) -> list[Row]:
        """Nothing."""
        return []

    @contextmanager
    def snapshot(self) -> Generator["AbsentStore"]:
        """It is the same at every moment."""
        yield self

    def close(self) -> None:
        """There is nothing to let go of."""
