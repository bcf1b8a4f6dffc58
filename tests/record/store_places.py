"""Both stores, behind one face: what is tested here holds for every one of them."""

import sqlite3
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import psycopg

from holdfast.contract.ports import Clock
from holdfast.record.codec import Chain
from holdfast.record.postgres.door import open_postgres
from holdfast.record.sql import SPAN
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

CHAIN = Chain(b"k" * 32)
EVERY_EVENT = (
    "SELECT session_id, sequence, id, micros, wake_id, type, version, body, previous, hash"
    " FROM session_events ORDER BY session_id, sequence"
)


def at(session_id: str, sequence: int) -> str:
    """Where an event is kept."""
    place = f"SELECT number * {SPAN} + {sequence} FROM chat_sessions WHERE id = '{session_id}'"
    return f"place = ({place})"


class StorePlace(NamedTuple):
    """Where a store is: the path of a file, or the URL of a database."""

    where: str

    @property
    def is_postgres(self) -> bool:
        return self.where.startswith("postgresql:")

    def open(self, clock: Clock | None = None) -> Store:
        clock = clock or SystemClock()
        if self.is_postgres:
            return open_postgres(self.where, CHAIN, clock, TimeIds(clock))
        return open_sqlite(Path(self.where), CHAIN, clock, TimeIds(clock))

    @asynccontextmanager
    async def opened(self, clock: Clock | None = None) -> AsyncGenerator[Store]:
        store = self.open(clock)
        try:
            yield store
        finally:
            await store.journal.close()

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        """Ask the store itself."""
        if self.is_postgres:
            with psycopg.connect(self.where, autocommit=True) as connection:
                connection.execute("SET search_path = holdfast")
                asked = connection.execute(statement.encode())
                return [] if asked.description is None else asked.fetchall()
        with closing(sqlite3.connect(self.where, isolation_level=None)) as connection:
            return connection.execute(statement).fetchall()

    @contextmanager
    def holding(self, lock: str) -> Generator[None]:
        """Keep a lock, in a transaction that changes nothing."""
        if self.is_postgres:
            with psycopg.connect(self.where) as connection:
                connection.execute("SET search_path = holdfast")
                connection.execute(lock.encode())
                yield
                connection.rollback()
        else:
            with closing(sqlite3.connect(self.where, isolation_level=None)) as connection:
                connection.execute(lock)
                yield

    def how_many(self, table: str) -> object:
        return self.rows(f"SELECT count(*) FROM {table}")[0][0]
