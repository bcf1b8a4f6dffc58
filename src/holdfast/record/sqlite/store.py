"""Works on the SQLite file, inside of a transaction: append in order, lease, release.

Everything is looked up before anything is written, so that a refusal leaves nothing behind. When
and how often it is committed is decided elsewhere.
"""

import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from holdfast.contract.journal import (
    JournalError,
    Lease,
    LeaseHeld,
    StaleEpoch,
    UnknownSession,
)
from holdfast.record.codec import GENESIS, Chain, Stored, Unwritten, stored
from holdfast.record.group_commit import Work
from holdfast.record.sqlite.connection import BUSY_SECONDS, Durability, open_writer, told

_POLL_SECONDS = 0.002
_INSERT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_HEAD = "SELECT sequence, hash, epoch, lease_holder, lease_until_micros FROM sessions WHERE id = ?"
_MOVE = "UPDATE sessions SET sequence = ?, hash = ?, updated_micros = ? WHERE id = ?"
_LEASE = "UPDATE sessions SET epoch = ?, lease_holder = ?, lease_until_micros = ? WHERE id = ?"


class Appending(NamedTuple):
    """Events to be appended, all or none."""

    session_id: str
    events: Sequence[Unwritten]
    epoch: int | None = None
    creates: bool = False


class _Row(NamedTuple):
    sequence: int
    hash: bytes
    epoch: int
    holder: str | None
    until_micros: int


class SqliteCommitter:
    """Does works in one transaction, with the one connection that writes."""

    def __init__(self, path: Path, durability: Durability) -> None:
        self._path = path
        self._connection = open_writer(path, durability)

    def commit(
        self, works: Sequence[Work[sqlite3.Connection]], /, *, wait: bool
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
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _begun(self, *, wait: bool) -> bool:
        """Begin; False when another process writes and is not to be waited for."""
        until = time.monotonic() + BUSY_SECONDS
        with told(self._path):
            while True:
                try:
                    self._connection.execute("BEGIN IMMEDIATE")
                except sqlite3.OperationalError as problem:
                    if problem.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                        raise
                    if not wait:
                        return False
                    if time.monotonic() > until:
                        raise
                    time.sleep(_POLL_SECONDS)
                else:
                    return True

    def _together(self, works: Sequence[Work[sqlite3.Connection]]) -> list[object | Exception]:
        connection = self._connection
        with told(self._path):
            try:
                found = [_result(work, connection) for work in works]
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        return found


def _result(work: Work[sqlite3.Connection], connection: sqlite3.Connection) -> object | Exception:
    try:
        return work(connection)
    except JournalError as refusal:
        return refusal


def append(wanted: Appending, chain: Chain, connection: sqlite3.Connection) -> list[Stored]:
    """Give events their places behind the last one."""
    if wanted.creates:
        sequence, previous = _begun(wanted, connection)
    else:
        row = _row(wanted.session_id, connection)
        if wanted.epoch is not None and wanted.epoch != row.epoch:
            raise StaleEpoch(
                f"session {wanted.session_id} is run by another since: this is epoch"
                f" {wanted.epoch}, the newest is {row.epoch}"
            )
        sequence, previous = row.sequence, row.hash
    rows: list[Stored] = []
    for event in wanted.events:
        sequence += 1
        rows.append(stored(event, wanted.session_id, sequence, previous, chain))
        previous = rows[-1].hash
    if rows:
        connection.executemany(_INSERT, rows)
        connection.execute(_MOVE, (sequence, previous, rows[-1].micros, wanted.session_id))
    return rows


def lease(
    session_id: str, holder: str, now: int, until: int, connection: sqlite3.Connection
) -> Lease:
    """Take the right to run a session, under a new epoch."""
    row = _row(session_id, connection)
    if row.holder is not None and row.until_micros > now:
        raise LeaseHeld(f"session {session_id} is run by {row.holder}")
    connection.execute(_LEASE, (row.epoch + 1, holder, until, session_id))
    return Lease(session_id=session_id, holder=holder, epoch=row.epoch + 1, until_micros=until)


def renew(held: Lease, until: int, connection: sqlite3.Connection) -> Lease:
    """Keep it for longer."""
    row = _row(held.session_id, connection)
    if (row.epoch, row.holder) != (held.epoch, held.holder):
        raise StaleEpoch(f"the lease of session {held.session_id} was lost to {row.holder}")
    connection.execute(_LEASE, (held.epoch, held.holder, until, held.session_id))
    return Lease(
        session_id=held.session_id, holder=held.holder, epoch=held.epoch, until_micros=until
    )


def release(held: Lease, connection: sqlite3.Connection) -> None:
    """Give it back, if it is still held."""
    row = _row(held.session_id, connection)
    if (row.epoch, row.holder) == (held.epoch, held.holder):
        connection.execute(_LEASE, (row.epoch, None, 0, held.session_id))


def _begun(wanted: Appending, connection: sqlite3.Connection) -> tuple[int, bytes]:
    if connection.execute(_HEAD, (wanted.session_id,)).fetchone() is not None:
        raise JournalError(f"there is a session {wanted.session_id} already")
    micros = wanted.events[0].micros if wanted.events else 0
    connection.execute(
        "INSERT INTO sessions (id, created_micros, updated_micros, sequence, hash)"
        " VALUES (?, ?, ?, 0, ?)",
        (wanted.session_id, micros, micros, GENESIS),
    )
    return 0, GENESIS


def _row(session_id: str, connection: sqlite3.Connection) -> _Row:
    found = connection.execute(_HEAD, (session_id,)).fetchone()
    if found is None:
        raise UnknownSession(f"there is no session {session_id}; see: holdfast sessions")
    return _Row(*found)
