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
    LOG_BYTES,
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
        self._log = path.with_name(f"{path.name}-wal")
        self._connection = open_writer(path, durability, alone=True)
        self._loads = loads_from(self._connection)
        self._seen = Seen()
        self._is_whole = True
        """Those rows are as they are in the file."""
        self._version = 0
        """Of the file, when those rows were seen."""
        # Of its own, so that nobody who commits has to wait for it.
        self._tidier = open_tidier(path)

    def commit(
        self, works: Sequence[Work[Desk]], /, *, wait: bool
    ) -> Sequence[object | Exception] | None:
        """Do all and commit once; what fails in an unforeseen way fails alone."""
        begun = False
        try:
            with told(self._path):
                begun = self._begun() or (wait and self._begun_later())
                return self._together(works) if begun else None
        except Exception as problem:  # noqa: BLE001 - whoever asked has to hear of it
            if len(works) == 1 or not begun:
                return [problem for _ in works]
        finally:
            self._taken_back()
        return [found for work in works for found in self.commit([work], wait=True) or ()]

    def is_untidy(self) -> bool:
        """Whether more is written ahead than the log is meant to hold."""
        try:
            return self._log.stat().st_size > LOG_BYTES
        except OSError:
            return False

    def tidy(self) -> None:
        """Move what is written ahead into the file, as far as no reader needs it."""
        with suppress(sqlite3.Error):
            self._tidier.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def end_tidying(self) -> None:
        """Move the rest: whoever commits next begins the log anew."""
        self.tidy()

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
        desk = Desk(self._loads, self._still_seen())
        self._is_whole = False
        found = [result_of(work, desk) for work in works]
        write(desk, self._connection)
        self._connection.execute("COMMIT")
        self._is_whole = True
        self._forget_ended(desk.new_parts)
        self._forget_ended(desk.parts)
        return found

    def _taken_back(self) -> None:
        """What did not come to its end has never been."""
        if self._connection.in_transaction:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
        if not self._is_whole:
            self._seen.forget()
            self._is_whole = True

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
