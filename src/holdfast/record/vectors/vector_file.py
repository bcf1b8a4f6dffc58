"""The index as a SQLite file: which event has which vector, and how far each session was taken up.

It is made of the journal and can be made again: one that is damaged, or of another form, is thrown
away. Whose sessions there are and what an event says is not known here.
"""

import heapq
import os
import sqlite3
import struct
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import islice
from math import isfinite, sqrt
from pathlib import Path

from holdfast.contract.vectors import Pointer, VectorsUnavailable
from holdfast.record.vectors import comparing
from holdfast.record.vectors.door import Bounds, Place, Taken

MOST_COMPARED = 50_000
"""Vectors that one question is compared with: the newest."""
MOST_NUMBERS = 8_192
"""Of one vector."""
_AT_ONCE = 4_096
_PATIENCE_SECONDS = 2.0
_FORM = 1
_APPLICATION = 0x48465643
"""What tells the file from any other of SQLite's."""
_TABLES = """
CREATE TABLE made (embedder TEXT NOT NULL, numbers INTEGER);
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, agent TEXT NOT NULL, sequence INTEGER NOT NULL, event_id TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE vectors (
    place INTEGER PRIMARY KEY, agent TEXT NOT NULL, session_id TEXT NOT NULL,
    event_id TEXT NOT NULL, vector BLOB NOT NULL
);
CREATE INDEX vectors_of_agents ON vectors (agent, place);
CREATE INDEX vectors_of_sessions ON vectors (session_id, place);
"""
_REACHED = "INSERT OR REPLACE INTO sessions (id, agent, sequence, event_id) VALUES (?, ?, ?, ?)"
_VECTOR = "INSERT INTO vectors (agent, session_id, event_id, vector) VALUES (?, ?, ?, ?)"


class SqliteVectors:
    """One file, opened for each thing that is done. Blocking."""

    def __init__(self, path: Path, embedder: str) -> None:
        self._path = path
        self._embedder = embedder

    def reached(self, agents: Collection[str | None], /) -> Mapping[str, Place]:
        """How far it came, in every session of theirs that it knows."""
        names = [one or "" for one in agents]
        asked = f"SELECT id, sequence, event_id FROM sessions WHERE agent IN ({_places(names)})"
        with self._opened() as connection:
            rows = connection.execute(asked, names).fetchall()
        return {name: Place(sequence, event_id) for name, sequence, event_id in rows}

    def keep(self, taken: Taken, /) -> bool:
        """Take it up, unless somebody else did meanwhile. Vectors that say nothing are left out."""
        agent, name = taken.agent or "", taken.session_id
        pairs = ((one.event_id, packed(one.vector)) for one in taken.entries)
        vectors = [(event_id, vector) for event_id, vector in pairs if vector is not None]
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            if _place(connection, name) != taken.before:
                connection.execute("ROLLBACK")
                return False
            self._check_length(connection, {len(vector) // 2 for _, vector in vectors})
            rows = ((agent, name, event_id, vector) for event_id, vector in vectors)
            connection.executemany(_VECTOR, rows)
            connection.execute(_REACHED, (name, agent, taken.now.sequence, taken.now.event_id))
            connection.execute("COMMIT")
        return True

    def forget(self, session_ids: Collection[str], /) -> None:
        """These sessions are gone, or are others now."""
        names = [(one,) for one in session_ids]
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("DELETE FROM vectors WHERE session_id = ?", names)
            connection.executemany("DELETE FROM sessions WHERE id = ?", names)
            connection.execute("COMMIT")

    def nearest(self, vector: Sequence[float], bounds: Bounds, /) -> Sequence[Pointer]:
        """The events closest to it, the closest first, among the newest that may be meant."""
        asked = packed(vector)
        if asked is None:
            return ()
        with self._opened() as connection:
            (numbers,) = connection.execute("SELECT numbers FROM made").fetchone()
            if numbers is None:
                return ()
            self._check_length(connection, {len(asked) // 2})
            best: list[tuple[float, int, str, str]] = []
            for rows in _rows(connection, bounds):
                found = comparing.closest(asked, [row[3] for row in rows], bounds.limit)
                best += ((near, *rows[which][:3]) for near, which in found)
                best = heapq.nlargest(bounds.limit, best)
        return tuple(
            Pointer(session_id=session_id, event_id=event_id, similarity=near)
            for near, _, session_id, event_id in best
            if near >= bounds.least
        )

    def _check_length(self, connection: sqlite3.Connection, lengths: set[int]) -> None:
        """Vectors of another length are made by something else, whatever it is called."""
        (numbers,) = connection.execute("SELECT numbers FROM made").fetchone()
        if numbers is None and len(lengths) == 1:
            connection.execute("UPDATE made SET numbers = ?", (*lengths,))
        elif lengths - {numbers}:
            other = max(lengths - {numbers})
            raise VectorsUnavailable(
                f"{self._embedder} makes vectors of {other} numbers, and those in {self._path} have"
                f" {numbers}; remove the file, and it is made anew"
            )

    @contextmanager
    def _opened(self) -> Generator[sqlite3.Connection]:
        try:
            connection = self._connected()
            with closing(connection):
                yield connection
        except (sqlite3.Error, OSError) as problem:
            raise VectorsUnavailable(f"{self._path}: {problem}") from None

    def _connected(self) -> sqlite3.Connection:
        """What is there may be anything: it is looked at before it is used."""
        _make_private(self._path)
        connection = _connect(self._path)
        try:
            if _is_ours(connection, self._embedder):
                return connection
        except sqlite3.DatabaseError as problem:
            connection.close()
            if problem.sqlite_errorcode & 0xFF not in {
                sqlite3.SQLITE_CORRUPT,
                sqlite3.SQLITE_NOTADB,
            }:
                raise
        else:
            connection.close()
        for name in (self._path, self._path.with_name(f"{self._path.name}-journal")):
            name.unlink(missing_ok=True)
        _make_private(self._path)
        connection = _connect(self._path)
        _is_ours(connection, self._embedder)
        return connection


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=_PATIENCE_SECONDS, isolation_level=None)


def _is_ours(connection: sqlite3.Connection, embedder: str) -> bool:
    """Whether it is an index of this embedder, in the form of today; a new one is made so."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if not application:
        connection.execute("BEGIN IMMEDIATE")
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if not tables:
            for statement in filter(str.strip, _TABLES.split(";")):
                connection.execute(statement)
            connection.execute("INSERT INTO made (embedder) VALUES (?)", (embedder,))
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {_FORM}")
        connection.execute("COMMIT")
        (application,) = connection.execute("PRAGMA application_id").fetchone()
    (form,) = connection.execute("PRAGMA user_version").fetchone()
    if (application, form) != (_APPLICATION, _FORM):
        return False
    return connection.execute("SELECT embedder FROM made").fetchone() == (embedder,)


def _make_private(path: Path) -> None:
    """For its owner alone."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with suppress(FileExistsError):
        os.close(os.open(path, flags, 0o600))
    if path.is_symlink():
        raise VectorsUnavailable(f"{path} is a link; remove it, and the index is made anew")


def _place(connection: sqlite3.Connection, session_id: str) -> Place:
    row = connection.execute(
        "SELECT sequence, event_id FROM sessions WHERE id = ?", (session_id,)
    ).fetchone()
    return Place() if row is None else Place(*row)


def _rows(
    connection: sqlite3.Connection, bounds: Bounds
) -> Iterator[list[tuple[int, str, str, bytes]]]:
    """The newest that may be meant, some at a time."""
    agents = [one or "" for one in bounds.agents]
    asked, values = f"agent IN ({_places(agents)})", list[str](agents)
    if bounds.sessions is not None:
        # The sign keeps SQLite from looking through all that the agent has.
        asked = f"+{asked} AND session_id IN ({_places(bounds.sessions)})"
        values += bounds.sessions
    if bounds.without is not None:
        asked += " AND session_id != ?"
        values.append(bounds.without)
    rows = connection.execute(
        f"SELECT place, session_id, event_id, vector FROM vectors WHERE {asked}"
        " ORDER BY place DESC LIMIT ?",
        (*values, MOST_COMPARED),
    )
    while some := list(islice(rows, _AT_ONCE)):
        yield some


def _places(values: Collection[str]) -> str:
    return ", ".join("?" * len(values))


def packed(vector: Sequence[float]) -> bytes | None:
    """Two bytes a number, all of them together of length 1; None: it points nowhere."""
    length = sqrt(sum(one * one for one in vector))
    if not length or not isfinite(length) or len(vector) > MOST_NUMBERS:
        return None
    return struct.pack(f"={len(vector)}e", *(one / length for one in vector))
