"""Reading a long session: opened, paged through, searched."""

import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.contract.journal import EventQuery
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.record.store import Store
from journal_ways import CHAIN, CLOCK, IDS, payloads

PAGE = 100
LONG = "ses_long"


async def measured(folder: Path, *, quick: bool) -> dict[str, object]:
    """Milliseconds alone, and with a thousand other sessions beside; how fast words are found."""
    events = 20_000 if quick else 100_000
    path = folder / "long.db"
    store = open_sqlite(path, CHAIN, CLOCK, IDS)
    await _fill(store, events)
    await store.journal.close()
    alone = await _read(path, events)
    store = open_sqlite(path, CHAIN, CLOCK, IDS)
    for _ in range(1000):
        said = [UserMessage(message="something else") for _ in range(20)]
        await store.journal.create(IDS.new("ses"), [SessionCreated(), *said])
    began = time.perf_counter()
    await store.archive.search("something")
    took = time.perf_counter() - began
    await store.journal.close()
    beside = await _read(path, events)
    caught_up = (events + 21_000) / took
    return {"events": events, "alone": alone, "beside": beside, "caught_up": caught_up}


async def _fill(store: Store, events: int) -> None:
    await store.journal.create(LONG, [SessionCreated()])
    left = events - 1
    while left > 0:
        lump = [said for _ in range(333) for said in payloads(IDS.new("cal"))][:left]
        await store.journal.append(LONG, lump)
        left -= len(lump)


async def _read(path: Path, events: int) -> dict[str, float]:
    async def first() -> None:
        store = open_sqlite(path, CHAIN, CLOCK, IDS)
        await store.journal.session(LONG)
        assert len(await store.journal.events(LONG, limit=PAGE)) == PAGE
        await store.journal.close()

    opening = await _milliseconds(first, 5)
    store = open_sqlite(path, CHAIN, CLOCK, IDS)
    journal = store.journal
    middle = (await journal.events(LONG, after=events // 2, limit=1))[0].id

    async def page(after: int) -> None:
        assert len(await journal.events(LONG, after=after, limit=PAGE)) == PAGE

    async def found(query: EventQuery) -> None:
        assert len(await journal.find(LONG, query)) == PAGE

    around = EventQuery(around=middle, before_limit=50, after_limit=49)
    told = {
        "open, session and first page": opening,
        "events, a page in the middle": await _milliseconds(lambda: page(events // 2), 30),
        "events, the last page": await _milliseconds(lambda: page(events - PAGE), 30),
        "find, a page around an event in the middle": await _milliseconds(
            lambda: found(around), 30
        ),
        "find, the last page": await _milliseconds(lambda: found(EventQuery(limit=PAGE)), 30),
    }
    await journal.close()
    return told


async def _milliseconds(call: Callable[[], Awaitable[None]], times: int) -> float:
    samples: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        await call()
        samples.append((time.perf_counter() - began) * 1000)
    return statistics.median(samples)
