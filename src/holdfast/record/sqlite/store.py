"""Works on a SQLite file: several of them in one transaction, each seeing the one before it.

Rows that were read or written are kept for the next transaction, as long as nobody else has changed
anything in the file.
"""

import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from holdfast.record.group_commit import Work, result_of
from holdfast.record.parts import ENDED
from holdfast.record.rows import Desk, PartRow, Seen
from holdfast.record.sqlite.connection import (
    BUSY_SECONDS,
    POLL_SECONDS,
    Durability,
    is_busy,
    open_tidier,
    open_writer,
    told,
)
from holdfast.record.sqlite.tables import loads_from, write

_MOST_SEEN = 512
"""Rows of a kind that are kept."""


class SqliteCommitter:
    """Does works in one transaction, with the one connection that writes."""

    def __init__(self, path: Path, durability: Durability) -> None:
        self._path = path
        self._connection = open_writer(path, durability)
        self._loads = loads_from(self._connection)
        self._seen = Seen()
        self._version = 0
        """Of the file, when those rows were seen."""
        # Of its own, so that nobody who commits has to wait for it.
        self._tidier = open_tidier(path)

    def commit(
        self, works: Sequence[Work[Desk]], /, *, wait: bool
    ) -> Sequence[object | Exception] | None:
        """Do all and commit once; what fails in an unforeseen way fails alone."""
        try:
            with told(self._path):
                if not self._begun() and not (wait and self._begun_later()):
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

    def _begun(self) -> bool:
        """Begin; False when another process writes."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as problem:
            if is_busy(problem):
                return False
            raise
        return True

    def _begun_later(self) -> bool:
        """Begin as soon as nobody else writes."""
        until = time.monotonic() + BUSY_SECONDS
        while time.monotonic() < until:
            time.sleep(POLL_SECONDS)
            if self._begun():
                return True
        self._connection.execute("BEGIN IMMEDIATE")
        return True

    def _together(self, works: Sequence[Work[Desk]]) -> list[object | Exception]:
        connection = self._connection
        try:
            desk = Desk(self._loads, self._still_seen())
            found = [result_of(work, desk) for work in works]
            write(desk, connection)
            connection.execute("COMMIT")
        except BaseException:
            self._seen.forget()
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if desk.deleted or desk.rebuilt:
            self._seen.forget()
        self._forget_ended(desk.new_parts)
        self._forget_ended(desk.parts)
        return found

    def _forget_ended(self, parts: Mapping[tuple[str, int], PartRow]) -> None:
        """Calls that have their answer are not looked at again, and may be large."""
        for key, part in parts.items():
            if part.tool_state in ENDED:
                self._seen.parts.pop(key, None)

    def _still_seen(self) -> Seen:
        seen = self._seen
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            seen.forget()
            self._version = version
        if len(seen.sessions) > _MOST_SEEN:
            seen.sessions.clear()
        if len(seen.parts) > _MOST_SEEN:
            seen.parts.clear()
        return seen
