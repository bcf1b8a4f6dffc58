"""Sessions in real stores that live as long as a test looks at them, and what is told of them."""

import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import anyio
from record.legal_events import Step

from holdfast.app.session_files import Pages, chat_pages, journal_pages
from holdfast.contract.events import Event
from holdfast.record.codec import Chain
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.record.store import Store
from holdfast.testing.fakes import FakeClock, FakeIds

NAME = "ses_1"
_T = TypeVar("_T")


@asynccontextmanager
async def opened(path: Path, clock: FakeClock | None = None) -> AsyncGenerator[Store]:
    store = open_sqlite(path, Chain(b"k" * 32), clock or FakeClock(), FakeIds())
    try:
        yield store
    finally:
        await store.journal.close()


def in_a_store(work: Callable[[Store, FakeClock], Awaitable[_T]]) -> _T:
    """What comes of a work on an empty store."""

    async def main() -> _T:
        clock = FakeClock()
        with tempfile.TemporaryDirectory() as folder:
            async with opened(Path(folder) / "holdfast.db", clock) as store:
                return await work(store, clock)

    return anyio.run(main)


async def happened(store: Store, clock: FakeClock, steps: Sequence[Step]) -> None:
    """Let a session be; its first event, too, has an id of the test's own."""
    first = Event(
        session_id=NAME,
        sequence=1,
        id=steps[0].id,
        at=clock.now(),
        wake_id=steps[0].wake_id,
        payload=steps[0].payload,
        previous=b"",
        hash=b"",
    )
    await store.archive.restore(NAME, [first])
    for step in steps[1:]:
        clock.advance(step.seconds)
        await store.journal.append(NAME, [step.payload], wake_id=step.wake_id, ids=[step.id])


async def told(store: Store, session_id: str = NAME) -> tuple[bytes, bytes]:
    """All that is told of a session: its journal, its conversation."""
    session = await store.journal.session(session_id)
    return (
        await text_of(journal_pages(store, session)),
        await text_of(chat_pages(store, session)),
    )


async def text_of(pages: Pages) -> bytes:
    return b"".join([line + b"\n" async for page in pages for line in page])
