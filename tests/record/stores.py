"""Both kinds of store, opened for a test."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from holdfast.contract.journal import Journal
from holdfast.record.codec import Chain
from holdfast.record.postgres.journal import open_postgres
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

CHAIN = Chain(b"k" * 32)

Opened = Callable[[], AbstractAsyncContextManager[Journal]]
"""Opens the same journal each time it is called."""


def sqlite_at(path: Path) -> Opened:
    return lambda: _sqlite(path)


def postgres_at(url: str) -> Opened:
    return lambda: _postgres(url)


@asynccontextmanager
async def _sqlite(path: Path) -> AsyncGenerator[Journal]:
    clock = SystemClock()
    journal = open_sqlite(path, CHAIN, clock, TimeIds(clock)).journal
    try:
        yield journal
    finally:
        await journal.close()


@asynccontextmanager
async def _postgres(url: str) -> AsyncGenerator[Journal]:
    clock = SystemClock()
    journal = open_postgres(url, CHAIN, clock, TimeIds(clock)).journal
    try:
        yield journal
    finally:
        await journal.close()
