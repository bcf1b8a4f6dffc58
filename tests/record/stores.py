"""The journal of either store, opened for a test as often as it likes."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from record.store_places import StorePlace

from holdfast.contract.journal import Journal

Opened = Callable[[], AbstractAsyncContextManager[Journal]]
"""Opens the same journal each time it is called."""


def sqlite_at(path: Path) -> Opened:
    return lambda: _journal(StorePlace(str(path)))


def postgres_at(url: str) -> Opened:
    return lambda: _journal(StorePlace(url))


@asynccontextmanager
async def _journal(place: StorePlace) -> AsyncGenerator[Journal]:
    async with place.opened() as store:
        yield store.journal
