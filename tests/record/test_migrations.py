"""Stores as earlier ones were: every version of the tables is brought up to date, nothing lost.

The rows are those that the fourth version of SQLite's tables had, written by the program of then.
They are the same in every version before, and in PostgreSQL's first three.
"""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import psycopg
import pytest
from record.store_places import CHAIN, EVERY_EVENT, StorePlace
from record.version_stores import opened

from holdfast.contract.events import CallIntended, EventsProcessed, UserMessage
from holdfast.contract.journal import EventQuery
from holdfast.record.codec import Stored, is_genuine
from holdfast.record.postgres import schema as postgres_schema
from holdfast.record.sqlite import schema as sqlite_schema
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
        assert place.how_many("search_entries WHERE session_id = 'ses_other'") == 1
