"""The tables, and how an older file is brought up to date: forward only, each step once."""

import sqlite3

from holdfast.contract.journal import JournalUnavailable
from holdfast.record.sqlite.version_tables import VERSIONS

_FIRST = """
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    created_micros INTEGER NOT NULL,
    updated_micros INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    hash BLOB NOT NULL,
    epoch INTEGER NOT NULL DEFAULT 0,
    lease_holder TEXT,
    lease_until_micros INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE events (
    session_id TEXT NOT NULL REFERENCES sessions (id),
    sequence INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    micros INTEGER NOT NULL,
    wake_id TEXT,
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    body BLOB NOT NULL,
    previous BLOB NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (session_id, sequence)
) WITHOUT ROWID;
"""

MIGRATIONS: tuple[str, ...] = (_FIRST, VERSIONS)
"""Each brings a file from the version before it to the next; what was published never changes."""


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file up to date, whoever else does the same at this moment."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in MIGRATIONS[_version(connection) :]:
            for statement in step.split(";"):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise JournalUnavailable(
            f"the journal was written by a newer holdfast (version {version} of its tables,"
            f" this one knows {len(MIGRATIONS)}); update holdfast"
        )
    return version
