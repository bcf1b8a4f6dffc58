"""The ways a call is written down: bare commits, holdfast's stores, whole settled calls.

python bench/journal_ways.py      goes each of them once
"""

import asyncio
import itertools
import sqlite3
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import msgspec

from holdfast import Holdfast, tool
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.contract.events import CallAsked, CallIntended, CallSettled, SessionCreated
from holdfast.contract.journal import Journal
from holdfast.record.anchors import AnchorFiles
from holdfast.record.codec import Chain
from holdfast.record.postgres.door import open_postgres
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

sys.path.append(str(Path(__file__).parent.parent / "tests"))
from postgres_server import running_server

MANY = 64
ARGUMENTS = '{"a":2,"b":3}'
ENVELOPE = b'{"metadata":{"duration_ms":0},"ok":true,"result":5,"tool":"add"}'
CLOCK = SystemClock()
IDS = TimeIds(CLOCK)
CHAIN = Chain(b"k" * 32)
_ROW = "INSERT INTO rows VALUES (?, ?)"

Call = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Way:
    """Named, with all who call at once."""

    name: str
    callers: list[Call]
    calls: int
    """How many in a round, together."""
    role: str = "ours"


@tool(read_only=True)
async def add(a: int, b: int) -> int:
    """Add."""
    return a + b


async def ways(folder: Path, opened: AsyncExitStack) -> AsyncGenerator[Way]:
    """All of them, opened."""
    yield Way("one row, one commit: sqlite3, WAL, NORMAL", [bare(folder, "NORMAL")], 4000, "limit")
    yield Way("one row, one commit: sqlite3, WAL, FULL", [bare(folder, "FULL")], 200, "limit")
    journal = sqlite_journal(folder / "process.db", "process", opened)
    yield Way("journal, one session", await callers(journal, 1), 400)
    yield Way("journal, 64 sessions", await callers(journal, MANY), 640)
    yield Way("Holdfast.settle, one session", [await settled(folder, "process", opened)], 300)
    # Each a store of its own on one file: they wait for its lock, and share no commit.
    settling = [await settled(folder, "process", opened) for _ in range(MANY)]
    yield Way("Holdfast.settle, 64 of them", settling, 640)
    yield Way("Holdfast.settle, one session, power", [await settled(folder, "power", opened)], 60)
    journal = sqlite_journal(folder / "power.db", "power", opened)
    yield Way("journal, one session, power", await callers(journal, 1), 60)
    yield Way("journal, 64 sessions, power", await callers(journal, MANY), 640)
    server = opened.enter_context(running_server({"fsync": "on"}))
    url = opened.enter_context(server.database())
    journal = open_postgres(url, CHAIN, CLOCK, IDS).journal
    opened.push_async_callback(journal.close)
    yield Way("journal, one session, PostgreSQL", await callers(journal, 1), 60)
    yield Way("journal, 64 sessions, PostgreSQL", await callers(journal, MANY), 640)


def bare(folder: Path, synchronous: str) -> Call:
    """One row of the same size in a commit of its own."""
    connection = sqlite3.connect(folder / f"bare-{synchronous}.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, body BLOB)")
    numbers = itertools.count()

    async def call() -> None:
        connection.execute(_ROW, (next(numbers), ENVELOPE))

    return call


def sqlite_journal(path: Path, durability: str, opened: AsyncExitStack) -> Journal:
    anchors = AnchorFiles(path.with_suffix(".anchors"))
    journal = open_sqlite(path, CHAIN, CLOCK, IDS, anchors, durability).journal
    opened.push_async_callback(journal.close)
    return journal


async def callers(journal: Journal, count: int) -> list[Call]:
    """Each in a session of its own."""
    return [await in_session(journal) for _ in range(count)]


async def in_session(journal: Journal) -> Call:
    session = IDS.new("ses")
    await journal.create(session, [SessionCreated()])
    epoch = (await journal.lease(session, "bench", 3600)).epoch

    async def call() -> None:
        asked, intended, settled = payloads(IDS.new("cal"))
        await journal.append(session, [asked, intended], epoch=epoch)
        await journal.append(session, [settled], epoch=epoch)

    return call


def payloads(call: str) -> tuple[CallAsked, CallIntended, CallSettled]:
    """What a call leaves."""
    return (
        CallAsked(call_id=call, tool="add", arguments=ARGUMENTS),
        CallIntended(call_id=call, tool="add", arguments_hash="ab" * 32, grounds="declared"),
        CallSettled(call_id=call, tool="add", envelope=msgspec.Raw(ENVELOPE)),
    )


async def settled(folder: Path, durability: str, opened: AsyncExitStack) -> Call:
    """A whole call: judged, written down, run, written down."""
    home = folder / f"settled-{durability}"
    holdfast = await opened.enter_async_context(
        Holdfast(
            tools=[add],
            settings=Settings(store=StoreSettings(durability=durability)),
            surroundings=Surroundings(data_home=home / "data", state_home=home / "state"),
        )
    )

    async def call() -> None:
        if not (envelope := await holdfast.settle("add", ARGUMENTS)).ok or envelope.warnings:
            sys.exit(f"not settled: {envelope}")

    return call


async def _once() -> None:
    async with AsyncExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        async for way in ways(folder, opened):
            await asyncio.gather(*[call() for call in way.callers])
            print(way.name)


if __name__ == "__main__":
    asyncio.run(_once())
