"""Stores as earlier ones were: every version of the tables is brought up to date, nothing lost.

The rows are those that the fourth version of SQLite's tables had, written by the program of then.
They are the same in every version before, and in PostgreSQL's first three.
"""

import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import anyio
import msgspec
import psycopg
import pytest
from record.store_places import CHAIN, EVERY_EVENT, StorePlace
from record.version_stores import opened

from holdfast.contract.events import CallIntended, EventsProcessed, UserMessage
from holdfast.contract.journal import EventQuery, JournalUnavailable
from holdfast.record.codec import Stored, is_genuine
from holdfast.record.postgres import schema as postgres_schema
from holdfast.record.postgres.door import read_postgres
from holdfast.record.sql import SPAN
from holdfast.record.sqlite import schema as sqlite_schema
from holdfast.record.sqlite.opening import SqliteReader
from holdfast.record.verifying import verify
from holdfast.testing.versions_kit import check_versions

pytestmark = pytest.mark.anyio

GOLDEN = Path(__file__).parent / "golden" / "tables-of-4.json"
OLDER = 4
"""Versions of SQLite's tables before an event had a place; PostgreSQL had one less."""


class Hex(msgspec.Struct):
    hex: str


class Table(msgspec.Struct):
    columns: list[str]
    rows: list[list[int | str | Hex | None]]

    def values(self) -> list[list[object]]:
        return [
            [bytes.fromhex(one.hex) if isinstance(one, Hex) else one for one in row]
            for row in self.rows
        ]


def tables() -> dict[str, Table]:
    return msgspec.json.decode(GOLDEN.read_bytes(), type=dict[str, Table])


def fill(execute: Callable[[str, Sequence[object]], object], schema: str, value: str) -> None:
    for name, table in tables().items():
        names = ", ".join(f'"{column}"' for column in table.columns)
        values = ", ".join([value] * len(table.columns))
        for row in table.values():
            execute(f"INSERT INTO {schema}{name} ({names}) VALUES ({values})", row)


def older_file(path: Path, version: int, patched: pytest.MonkeyPatch) -> StorePlace:
    with patched.context() as older:
        older.setattr(sqlite_schema, "MIGRATIONS", sqlite_schema.MIGRATIONS[:version])
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            sqlite_schema.migrate(connection)
            fill(connection.execute, "", "?")
    return StorePlace(str(path))


def older_database(url: str, version: int, patched: pytest.MonkeyPatch) -> StorePlace:
    with patched.context() as older:
        older.setattr(postgres_schema, "MIGRATIONS", postgres_schema.MIGRATIONS[:version])
        with psycopg.connect(url, autocommit=True) as connection:
            postgres_schema.migrate(connection)

            def execute(statement: str, row: Sequence[object]) -> object:
                return connection.execute(statement.encode(), row)

            fill(execute, "holdfast.", "%s")
    return StorePlace(url)


async def check(place: StorePlace) -> None:
    written = {(row[0], row[1]): row[:10] for row in tables()["events"].values()}
    async with place.opened() as store:
        kept = [Stored(*row) for row in place.rows(EVERY_EVENT)]  # type: ignore[arg-type] - columns
        assert {(row.session_id, row.sequence): list(row) for row in kept} == written
        assert all(is_genuine(row, CHAIN) for row in kept)
        for session in ("ses_older", "ses_other"):
            assert await store.archive.rebuild(session, repair=False) == ()
        assert [one.session_id for one in await store.archive.search("waits")] == ["ses_other"]
        await _goes_on(place)


async def _goes_on(place: StorePlace) -> None:
    async with place.opened() as store:
        journal = store.journal
        (waiting,) = await journal.find("ses_other", EventQuery(processed=False))
        await journal.append("ses_other", [EventsProcessed(event_ids=(waiting.id,))])
        assert await journal.find("ses_other", EventQuery(processed=False)) == ()
        before = (await journal.session("ses_older")).sequence
        (more,) = await journal.append("ses_older", [UserMessage(message="go on")])
        assert more.sequence == before + 1
        (of_wake, *_) = await journal.find("ses_older", EventQuery(wake_id="wak_1"))
        assert of_wake.wake_id == "wak_1"
        intended = [
            event
            for event in await journal.events("ses_older")
            if isinstance(event.payload, CallIntended)
        ]
        assert len(intended) == 1
        assert await store.archive.rebuild("ses_older", repair=False) == ()
        await store.archive.delete("ses_older")
        assert {row[0] for row in place.rows(EVERY_EVENT)} == {"ses_other"}


@pytest.mark.parametrize("version", range(1, OLDER + 1))
async def test_a_file_of_any_version_is_brought_up_to_date(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = older_file(tmp_path / "holdfast.db", version, monkeypatch)
    await check(place)
    async with opened(tmp_path / "holdfast.db") as store:
        await check_versions(store)


@pytest.mark.parametrize("version", range(1, OLDER))
async def test_a_database_of_any_version_is_brought_up_to_date(
    postgres_url: str, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    await check(older_database(postgres_url, version, monkeypatch))


async def test_words_that_an_older_one_took_up_are_taken_up_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = older_file(tmp_path / "holdfast.db", 3, monkeypatch)
    place.rows("INSERT INTO search VALUES ('It waits.', 'ses_other', 2)")
    place.rows("INSERT INTO search_places VALUES ('ses_other', 2)")
    async with place.opened() as store:
        found = await store.archive.search("waits")
        assert [(one.session_id, one.sequence) for one in found] == [("ses_other", 2)]
        of_other = f"search JOIN chat_sessions ON number = search.rowid / {SPAN}"
        assert place.how_many(f"{of_other} WHERE chat_sessions.id = 'ses_other'") == 1


async def check_due(place: StorePlace) -> None:
    """What waits makes an agent's session due; a damaged row is left to those who mend it."""
    state = """'{"agent_id":"coder"}'"""
    place.rows(f"UPDATE chat_sessions SET state_json = {state} WHERE id = 'ses_other'")
    place.rows("UPDATE chat_sessions SET state_json = '{' WHERE id = 'ses_older'")
    async with place.opened() as store:
        (session,) = await store.journal.due(0, limit=5)
        (waiting,) = await store.journal.find("ses_other", EventQuery(processed=False))
        assert (session.id, session.state.pending) == ("ses_other", (waiting.id,))
        assert await store.journal.next_due() == 0
    assert place.rows("SELECT state_json FROM chat_sessions WHERE id = 'ses_older'") == [("{",)]


async def test_sessions_of_an_older_file_that_wait_are_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await check_due(older_file(tmp_path / "holdfast.db", OLDER, monkeypatch))


async def test_sessions_of_an_older_database_that_wait_are_due(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await check_due(older_database(postgres_url, OLDER - 1, monkeypatch))


FULL = """
import resource, signal, sys
from pathlib import Path
from holdfast.contract.journal import JournalUnavailable
from holdfast.record.sqlite.connection import open_writer

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    open_writer(Path(sys.argv[1]), "process")
except JournalUnavailable as problem:
    print(problem)
"""


@pytest.mark.parametrize("more_bytes", [4096, 40_000])
async def test_a_disk_that_is_full_half_way_is_told_and_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more_bytes: int
) -> None:
    path = tmp_path / "holdfast.db"
    place = older_file(path, OLDER, monkeypatch)
    place.rows("PRAGMA journal_mode = WAL")
    before = place.rows("SELECT * FROM events ORDER BY session_id, sequence")
    argv = [sys.executable, "-c", FULL, str(path), str(more_bytes)]
    asked = await anyio.run_process(argv)
    assert "the disk is full" in asked.stdout.decode(), asked.stderr
    assert place.rows("PRAGMA user_version") == [(OLDER,)]
    assert place.rows("PRAGMA integrity_check") == [("ok",)]
    assert place.rows("SELECT * FROM events ORDER BY session_id, sequence") == before
    await check(place)


def test_no_room_for_the_tables_is_told_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "holdfast.db"
    older_file(path, OLDER, monkeypatch)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA max_page_count = 1")  # it takes what there is
        with pytest.raises(sqlite3.OperationalError, match="full"):
            sqlite_schema.migrate(connection)
        assert connection.execute("PRAGMA user_version").fetchone() == (OLDER,)


OLDER_TABLES = (
    r"holdfast\.db: its tables are those of an older holdfast \(version 4"
    rf".*reads {len(sqlite_schema.MIGRATIONS)}\); bring"
)


async def test_a_reader_leaves_an_older_file_as_it_is_and_says_who_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "holdfast.db"
    place = older_file(path, OLDER, monkeypatch)
    with closing(SqliteReader(path)) as reader:
        for _ in range(2):
            with pytest.raises(JournalUnavailable, match=OLDER_TABLES):
                list(verify(reader, CHAIN, {}))
        assert place.rows("PRAGMA user_version") == [(OLDER,)]
        async with place.opened():
            assert [one.problems for one in verify(reader, CHAIN, {})] == [(), ()]


async def test_a_reader_leaves_an_older_database_as_it_is_and_says_who_does_not(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(JournalUnavailable, match="it has no tables yet; make them with: holdfast"):
        read_postgres(postgres_url)
    place = older_database(postgres_url, OLDER - 1, monkeypatch)
    with pytest.raises(JournalUnavailable, match=r"postgresql://.*older holdfast \(version 3"):
        read_postgres(postgres_url)
    assert place.rows("SELECT version FROM schema") == [(OLDER - 1,)]
    async with place.opened():
        with closing(read_postgres(postgres_url)) as reader:
            assert [one.problems for one in verify(reader, CHAIN, {})] == [(), ()]


def test_a_reader_knows_a_file_that_is_not_ours(tmp_path: Path) -> None:
    path = tmp_path / "holdfast.db"
    path.touch()
    with closing(SqliteReader(path)) as reader:
        with pytest.raises(JournalUnavailable, match="it has no tables yet"):
            reader.rows("SELECT 1", ())
        StorePlace(str(path)).rows("CREATE TABLE another (x)")
        with pytest.raises(JournalUnavailable, match="another program"):
            reader.rows("SELECT 1", ())
