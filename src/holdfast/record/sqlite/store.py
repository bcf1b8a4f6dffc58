"""Works on a SQLite file: several of them in one transaction, each seeing the one before it."""

import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from holdfast.record.group_commit import Work, result_of
from holdfast.record.rows import Desk
from holdfast.record.sqlite.connection import (
    BUSY_SECONDS,
    POLL_SECONDS,
    Durability,
    is_busy,
    open_tidier,
    open_writer,
    told,
)
from holdfast.record.sqlite.tables import desk_on, write


class SqliteCommitter:
    """Does works in one transaction, with the one connection that writes."""

    def __init__(self, path: Path, durability: Durability) -> None:
        self._path = path
        self._connection = open_writer(path, durability)
        # Of its own, so that nobody who commits has to wait for it.
        self._tidier = open_tidier(path)

    def commit(
        self, works: Sequence[Work[Desk]], /, *, wait: bool
    ) -> Sequence[object | Exception] | None:
        """Do all and commit once; what fails in an unforeseen way fails alone."""
        try:
            if not self._begun(wait=wait):
                return None
            return self._together(works)
        except Exception as problem:  # noqa: BLE001 - whoever asked has to hear of it
            if len(works) == 1:
                return [problem]
        return [found for work in works for found in self.commit([work], wait=True) or ()]

    def tidy(self) -> None:
        """Move what is written ahead into the file, as far as no reader needs it."""
        with suppress(sqlite3.Error):
            self._tidier.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def close(self) -> None:
        """Let go of the file."""
        self._tidier.close()
        self._connection.close()

    def _begun(self, *, wait: bool) -> bool:
        """Begin; False when another process writes and is not to be waited for."""
        until = time.monotonic() + BUSY_SECONDS
        with told(self._path):
            while True:
                try:
                    self._connection.execute("BEGIN IMMEDIATE")
                except sqlite3.OperationalError as problem:
                    if not is_busy(problem):
                        raise
                    if not wait:
                        return False
                    if time.monotonic() > until:
                        raise
                    time.sleep(POLL_SECONDS)
                else:
                    return True

    def _together(self, works: Sequence[Work[Desk]]) -> list[object | Exception]:
        connection = self._connection
        with told(self._path):
            try:
                desk = desk_on(connection)
                found = [result_of(work, desk) for work in works]
                write(desk, connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        return found
