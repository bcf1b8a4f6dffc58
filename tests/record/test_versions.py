"""Every store of versions: the kit, rivals in several processes, kills, damage, what is told."""

import random
import resource
import sqlite3
import time
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from anyio import create_task_group
from postgres_server import PostgresServer
from psycopg import sql
from record.version_stores import let_go, made, opened, worker

from holdfast.contract.events import SessionCreated
from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.versions import (
    ANYTHING,
    Expected,
    Kept,
    Origin,
    PreconditionFailed,
    Version,
    VersionedStore,
)
from holdfast.record.codec import Chain
from holdfast.record.postgres.versions import PostgresVersionTables
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.record.sqlite.versions import SqliteVersionTables
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.testing.fake_versions import FakeVersions
from holdfast.testing.versions_kit import check_size, check_versions

pytestmark = pytest.mark.anyio

ORIGIN = Origin(source="test")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "holdfast.db"


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, path: Path) -> Path | str:
    """Where a store is: a file, or the URL of a database."""
    return path if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def store(place: Path | str) -> AsyncGenerator[VersionedStore]:
    async with opened(place) as found:
        yield found


def changed(place: Path | str, statement: LiteralString) -> int:
    """Change the tables behind the store's back."""
    if isinstance(place, Path):
        with closing(sqlite3.connect(place)) as file, file:
            return file.execute(statement).rowcount
    with psycopg.connect(place) as server:
        return server.execute(statement).rowcount


async def test_the_fake_passes_the_kit() -> None:
    await check_versions(FakeVersions())
    await check_size(FakeVersions(most_bytes=100), 100)


class Careless(FakeVersions):
    """Checks no expectation."""

    async def write(self, *given: Any, **named: Any) -> Version:
        return await super().write(*given, **{**named, "expected": ANYTHING})


class Backwards(FakeVersions):
    """Lists the oldest first."""

    async def history(self, *given: Any, **named: Any) -> tuple[Version, ...]:
        return (await super().history(*given, **named))[::-1]


async def test_the_kit_notices_stores_that_are_wrong() -> None:
    with pytest.raises(AssertionError, match="refused with PreconditionFailed"):
        await check_versions(Careless())
    with pytest.raises(AssertionError, match="not the newest ten"):
        await check_versions(Backwards())


@pytest.mark.req("BOA-MEM-30")
async def test_each_store_passes_the_kit(store: VersionedStore) -> None:
    await check_versions(store)


async def test_each_store_keeps_as_much_as_it_was_told(place: Path | str) -> None:
    async with opened(place, most_bytes=5000) as store:
        await check_size(store, 5000)


async def test_what_was_written_is_there_when_it_is_opened_again(place: Path | str) -> None:
    async with opened(place) as store:
        version = await store.write("s", "notes", b"\xff kept", origin=ORIGIN)
    async with opened(place) as store:
        assert await store.newest("s", "notes") == Kept(version, b"\xff kept")


async def test_the_same_content_is_stored_once(place: Path | str, store: VersionedStore) -> None:
    first = await store.write("s", "a", b"same", origin=ORIGIN)
    await store.write("s", "b", b"same", origin=ORIGIN)
    await store.write("s", "a", b"other", origin=ORIGIN)
    await store.restore("s", first.id, origin=ORIGIN)
    table = "version_contents" if isinstance(place, Path) else "holdfast.version_contents"
    assert changed(place, f"UPDATE {table} SET hash = hash") == 2


@pytest.mark.req("BOA-MEM-30")
async def test_of_rivals_in_several_processes_one_wins(
    place: Path | str, store: VersionedStore
) -> None:
    first = await store.write("s", "prize", b"nobody's", origin=ORIGIN)
    workers = [worker(place, "race", first.id) for _ in range(4)]
    let_go(workers)
    said = [line.split() for one in workers for line in one.communicate()[0].splitlines()]
    assert [one.returncode for one in workers] == [0, 0, 0, 0]
    assert len(said) == 20
    (won,) = [version_id for word, version_id in said if word == "won"]
    assert {version_id for _word, version_id in said} == {won}
    assert [one.id for one in await store.history("s", "prize")] == [won, first.id]


async def test_of_rivals_with_stores_of_their_own_one_wins(
    place: Path | str, store: VersionedStore
) -> None:
    first = await store.write("s", "prize", b"nobody's", origin=ORIGIN)
    outcomes: list[str] = []

    async def reach(rival: VersionedStore) -> None:
        expected = Expected(content_hash=first.content_hash)
        try:
            await rival.write("s", "prize", b"mine", origin=ORIGIN, expected=expected)
            outcomes.append("won")
        except PreconditionFailed:
            outcomes.append("lost")

    async with opened(place) as one, opened(place) as two, create_task_group() as rivals:
        for number in range(20):
            rivals.start_soon(reach, one if number % 2 else two)
    assert sorted(outcomes) == ["lost"] * 19 + ["won"]


@pytest.mark.parametrize("seed", range(3))
async def test_a_kill_leaves_the_old_or_the_new_and_nothing_torn(
    place: Path | str, seed: int, store: VersionedStore
) -> None:
    moments = random.Random(seed)
    acknowledged: list[str] = []
    with worker(place, "fill") as running:
        let_go([running])
        assert running.stdout is not None
        acknowledged += [running.stdout.readline() for _ in range(moments.randrange(1, 12))]
        running.kill()
        acknowledged += running.stdout.readlines()
    kept = (await store.history("s", "file", limit=1000))[::-1]
    assert [one.number for one in kept] == list(range(1, len(kept) + 1))
    there = {f"{one.number} {one.id}\n" for one in kept}
    assert {line for line in acknowledged if line.endswith("\n")} <= there
    for number, version in enumerate(kept):
        assert (await store.read("s", version.id)).content == (b"%d " % number) * 20_000
    assert (await store.write("s", "file", b"and on", origin=ORIGIN)).number == len(kept) + 1


async def test_damaged_content_is_told_and_built_upon_by_nobody(
    place: Path | str, store: VersionedStore
) -> None:
    version = await store.write("s", "notes", b"right", origin=ORIGIN)
    if isinstance(place, Path):
        changed(place, "UPDATE version_contents SET content = x'00'")
    else:
        changed(place, "UPDATE holdfast.version_contents SET content = '\\x00'")
    with pytest.raises(JournalUnavailable, match=f"content of version {version.id} is damaged"):
        await store.newest("s", "notes")
    with pytest.raises(JournalUnavailable, match="damaged"):
        await store.write("s", "notes", b"more", origin=ORIGIN, mode="append")
    assert (await store.write("s", "notes", b"anew", origin=ORIGIN)).number == 2


async def test_a_closed_one_says_so_and_can_be_closed_again(place: Path | str) -> None:
    store = made(place)
    await store.close()
    await store.close()
    with pytest.raises(JournalUnavailable, match="the store is closed"):
        await store.write("s", "notes", b"late", origin=ORIGIN)
    with pytest.raises(JournalUnavailable, match="the store is closed"):
        await store.newest("s", "notes")


async def test_a_journal_in_the_same_file_goes_on(path: Path) -> None:
    clock = SystemClock()
    journal = open_sqlite(path, Chain(b"k" * 32), clock, TimeIds(clock)).journal
    async with opened(path) as store, create_task_group() as group:
        for number in range(10):
            group.start_soon(journal.create, f"ses_{number}", [SessionCreated()])
            group.start_soon(lambda: store.write("s", "notes", b"x", origin=ORIGIN))
    async with opened(path) as store:
        assert len(await store.history("s", "notes", limit=99)) == 10
    assert (await journal.session("ses_9")).sequence == 1
    await journal.close()


async def test_a_full_disk_loses_nothing_and_is_told(path: Path) -> None:
    async with opened(path) as store:
        version = await store.write("s", "notes", b"old", origin=ORIGIN)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
        try:
            with pytest.raises(JournalUnavailable, match=str(path)):
                await store.write("s", "notes", b"x" * 1_000_000, origin=ORIGIN)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert await store.newest("s", "notes") == Kept(version, b"old")
        assert (await store.write("s", "notes", b"room again", origin=ORIGIN)).number == 2


async def test_a_file_that_another_keeps_locked_is_told(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.record.sqlite.versions.BUSY_SECONDS", 0.1)
    async with opened(path) as store:
        tables = SqliteVersionTables(path)
        with (
            tables.writing("s", "notes"),
            pytest.raises(JournalUnavailable, match="kept it locked"),
        ):
            await store.write("s", "notes", b"in vain", origin=ORIGIN)
        tables.close()
        assert (await store.write("s", "notes", b"free", origin=ORIGIN)).number == 1


async def test_a_target_that_another_keeps_locked_is_told_and_no_other_waits(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "holdfast.record.postgres.versions._LOCK_TIMEOUT", "SET LOCAL lock_timeout = '100ms'"
    )
    other = made(postgres_url)
    tables = PostgresVersionTables(postgres_url)
    with tables.writing("s", "notes"):
        with pytest.raises(JournalUnavailable, match=r"somebody keeps it locked .* try again"):
            await other.write("s", "notes", b"in vain", origin=ORIGIN)
        await other.write("s", "elsewhere", b"free", origin=ORIGIN)
        await other.write("elsewhere", "notes", b"free", origin=ORIGIN)
    assert (await other.write("s", "notes", b"free", origin=ORIGIN)).number == 1
    tables.close()
    await other.close()


def test_a_database_that_lets_nobody_in_is_told_at_once(postgres_server: PostgresServer) -> None:
    begun = time.monotonic()
    with pytest.raises(JournalUnavailable, match="correct user and password"):
        made(postgres_server.url(password="wr0ng"))
    assert time.monotonic() - begun < 3


async def test_a_database_that_hands_out_old_snapshots_makes_no_difference(
    postgres_url: str,
) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as server:
        name = server.info.dbname
        server.execute(
            sql.SQL("ALTER DATABASE {} SET default_transaction_isolation = 'serializable'").format(
                sql.Identifier(name)
            )
        )
    async with opened(postgres_url) as store:
        await check_versions(store)


async def test_a_database_that_can_only_be_read_is_told(postgres_url: str) -> None:
    async with opened(postgres_url) as store:
        await store.write("s", "notes", b"old", origin=ORIGIN)
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(
            sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(
                sql.Identifier(server.info.dbname)
            )
        )
    async with opened(postgres_url) as store:
        with pytest.raises(JournalUnavailable, match="it can only be read"):
            await store.write("s", "notes", b"new", origin=ORIGIN)
        newest = await store.newest("s", "notes")
        assert newest is not None
        assert newest.content == b"old"
