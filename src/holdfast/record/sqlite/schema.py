"""The tables, and how an older file is brought up to date: forward only, each step once."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from holdfast.contract.journal import JournalUnusable, TooNew
from holdfast.record import brief_step, due_step
from holdfast.record.sql import BRIEF_CHANGED, Row
from holdfast.record.sqlite.place_tables import PLACES
from holdfast.record.sqlite.search_tables import (
    SEARCH,
    SEARCH_OF_KINDS,
    SEARCH_OF_PLACES,
    SEARCH_OF_WORDS,
)
from holdfast.record.sqlite.version_tables import CARRIED, VERSIONS
from holdfast.record.store import not_up_to_date

_FIRST = """
CREATE TABLE chat_sessions (
    id TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    hash BLOB NOT NULL,
    state_json TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    holder TEXT,
    until INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE events (
    session_id TEXT NOT NULL REFERENCES chat_sessions (id),
    sequence INTEGER NOT NULL,
    id TEXT NOT NULL,
    micros INTEGER NOT NULL,
    wake_id TEXT,
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    body BLOB NOT NULL,
    previous BLOB NOT NULL,
    hash BLOB NOT NULL,
    processed_at INTEGER,
    PRIMARY KEY (session_id, sequence)
) WITHOUT ROWID;

CREATE INDEX events_pending ON events (session_id, sequence) WHERE processed_at IS NULL;

CREATE INDEX events_of_wake ON events (session_id, wake_id, sequence) WHERE wake_id IS NOT NULL;

CREATE TABLE chat_messages (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES chat_sessions (id),
    "index" INTEGER NOT NULL,
    role TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (session_id, "index")
) WITHOUT ROWID;

CREATE TABLE chat_parts (
    id TEXT NOT NULL,
    message_id TEXT NOT NULL REFERENCES chat_messages (id),
    session_id TEXT NOT NULL REFERENCES chat_sessions (id),
    "index" INTEGER NOT NULL,
    type TEXT NOT NULL,
    data_json TEXT NOT NULL,
    tool_call_id TEXT,
    tool_state TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (message_id, "index")
) WITHOUT ROWID;
"""

_OF_LEARNED = """
CREATE INDEX events_learned ON events (micros, place) WHERE type = 'learning.captured';
"""
"""What was learned is found without a look at what else happened; see `record.learned`. An event
of any other kind costs it one comparison."""

_DUE = "ALTER TABLE chat_sessions ADD COLUMN due INTEGER"
_DUE_INDEX = "CREATE INDEX sessions_due ON chat_sessions (due) WHERE due IS NOT NULL"
_NO_WAKES = "DROP INDEX events_of_wake;\n"
"""Nearly every event of an agent went into it, for a question that is seldom asked: who wants the
events of a wake looks through its session, as for those of a type."""

_BRIEFS = """
CREATE TABLE session_briefs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    parent_id TEXT,
    status TEXT NOT NULL,
    requires_action INTEGER NOT NULL,
    setup TEXT,
    outcome_title TEXT,
    outcome_status TEXT NOT NULL,
    outcome_trend TEXT,
    promotion_ready INTEGER NOT NULL,
    rested_at INTEGER NOT NULL
)
"""
_BRIEF_INDEXES = (
    "CREATE INDEX briefs_of_agent ON session_briefs (agent_id)",
    "CREATE INDEX briefs_of_parent ON session_briefs (parent_id, agent_id)"
    " WHERE parent_id IS NOT NULL",
)


def _add_due(connection: sqlite3.Connection) -> None:
    """When each session has to be run, beside it: the first is found without looking at all."""
    connection.execute(_DUE)
    if _has_sessions(connection):
        for values in due_step.found_due(partial(_asked, connection)):
            connection.executemany(due_step.FOUND_DUE, values)
    connection.execute(_DUE_INDEX)


def _add_briefs(connection: sqlite3.Connection) -> None:
    """What sessions are listed by, in a table of its own: narrow, as all of it is looked at."""
    connection.execute(_BRIEFS)
    if _has_sessions(connection):
        for values in brief_step.found_briefs(partial(_asked, connection)):
            connection.executemany(BRIEF_CHANGED, values)
    for index in _BRIEF_INDEXES:
        connection.execute(index)


def _has_sessions(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM chat_sessions").fetchone() is not None


def _asked(connection: sqlite3.Connection, statement: str, values: Sequence[object]) -> list[Row]:
    return connection.execute(statement, values).fetchall()


Step: TypeAlias = str | Callable[[sqlite3.Connection], None]
"""Statements, or what does more than statements can."""

MIGRATIONS: tuple[Step, ...] = (
    *(_FIRST, VERSIONS, SEARCH, SEARCH_OF_WORDS, PLACES),
    *(_add_due, _NO_WAKES, _add_briefs, _OF_LEARNED),
    *(SEARCH_OF_PLACES, SEARCH_OF_KINDS, CARRIED),
)
"""Each brings a file from the version before it to the next; what was published never changes."""


def check_ours(connection: sqlite3.Connection) -> None:
    """Leave the database of another program as it is; JournalUnavailable."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if tables and "chat_sessions" not in tables:
        raise JournalUnusable(
            "it is the database of another program; move it away, or let holdfast use another place"
        )


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file up to date, whoever else does the same at this moment."""
    if version_of(connection) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in MIGRATIONS[version_of(connection) :]:
            _take(step, connection)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        # A full disk makes SQLite take it all back by itself. Whoever closes it does the same.
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def check_up_to_date(connection: sqlite3.Connection) -> None:
    """Whoever only reads changes no tables, and says who does; JournalUnavailable."""
    check_ours(connection)
    version = version_of(connection)
    if version < len(MIGRATIONS):
        raise not_up_to_date(version, len(MIGRATIONS))


def _take(step: Step, connection: sqlite3.Connection) -> None:
    if not isinstance(step, str):
        step(connection)
        return
    for statement in _statements(step):
        connection.execute(statement)


def _statements(step: str) -> Iterator[str]:
    """One by one: executed as a script, they would commit before they are all done."""
    statement = ""
    for line in step.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def version_of(connection: sqlite3.Connection) -> int:
    """Which steps were taken; JournalUnavailable when they are more than are known here."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise TooNew(
            f"the journal was written by a newer holdfast (version {version} of its tables,"
            f" this one knows {len(MIGRATIONS)}); update holdfast"
        )
    return version
