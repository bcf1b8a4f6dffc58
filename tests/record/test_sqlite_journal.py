"""The journal in a SQLite file: the kit, several processes, kills at any moment, broken files."""

import random
import resource
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest
from anyio import create_task_group
from record.store_places import EVERY_EVENT

from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.contract.journal import Journal, JournalError, JournalUnavailable
from holdfast.contract.json_value import JsonValue
from holdfast.record.appending import Appending, known
from holdfast.record.codec import Chain, Stored, Unwritten, is_genuine
from holdfast.record.group_commit import Work
from holdfast.record.rows import Desk
from holdfast.record.sqlite.connection import Durability
from holdfast.record.sqlite.opening import SqliteReader, open_sqlite
from holdfast.record.sqlite.store import SqliteCommitter
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.testing.journal_kit import check_journal

pytestmark = pytest.mark.anyio

KEY = b"k" * 32
CHAIN = Chain(KEY)


def made(path: Path, durability: Durability = "process") -> Journal:
    clock = SystemClock()
    return open_sqlite(path, CHAIN, clock, TimeIds(clock), durability=durability).journal


@asynccontextmanager
async def opened(path: Path, durability: Durability = "process") -> AsyncGenerator[Journal]:
    journal = made(path, durability)
    try:
        yield journal
    finally:
        await journal.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "holdfast.db"


def rows(path: Path) -> list[Stored]:
    with sqlite3.connect(path) as connection:
        found = connection.execute(EVERY_EVENT).fetchall()
    connection.close()
    return [Stored(*row) for row in found]


@pytest.mark.parametrize("durability", ["process", "power"])
async def test_it_passes_the_kit(path: Path, durability: Durability) -> None:
    async with opened(path, durability) as journal:
        await check_journal(journal)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert all(is_genuine(row, CHAIN) for row in rows(path))


async def test_what_was_written_is_there_when_it_is_opened_again(path: Path) -> None:
    async with opened(path) as journal:
        begun = await journal.create("ses_1", [SessionCreated(), UserMessage(message="ä")])
    async with opened(path) as journal:
        assert await journal.events("ses_1") == begun
        with pytest.raises(JournalError, match="there is a session ses_1 already"):
            await journal.create("ses_1", [SessionCreated()])


async def test_a_closed_one_takes_nothing_and_can_be_closed_again(path: Path) -> None:
    journal = made(path)
    await journal.create("ses_1", [SessionCreated()])
    await journal.close()
    await journal.close()
    with pytest.raises(JournalUnavailable, match="the journal is closed"):
        await journal.append("ses_1", [UserMessage(message="late")])


async def test_what_was_asked_for_before_closing_is_done(path: Path) -> None:
    journal = made(path)
    await journal.create("ses_1", [SessionCreated()])
    async with create_task_group() as group:
        for number in range(20):
            group.start_soon(journal.append, "ses_1", [UserMessage(message=f"{number}")])
    await journal.close()
    assert len(rows(path)) == 21


WORKER = """
import sys
import threading
from pathlib import Path
import anyio
from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.record.codec import Chain
from holdfast.record.sqlite.opening import SqliteReader, open_sqlite
from holdfast.record.sqlite.store import SqliteCommitter
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

async def main(path, session, count):
    clock = SystemClock()
    journal = open_sqlite(Path(path), Chain(b"k" * 32), clock, TimeIds(clock)).journal
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(int(count)):
        (event,) = await journal.append(session, [UserMessage(message=f"{number}")])
        print(event.sequence, event.id, flush=True)
    await journal.close()

anyio.run(main, *sys.argv[1:])
"""


def worker(path: Path, session: str, count: int) -> "subprocess.Popen[str]":
    argv = [sys.executable, "-c", WORKER, str(path), session, str(count)]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def let_go(workers: "Sequence[subprocess.Popen[str]]") -> None:
    """All at once, when each is ready."""
    for one in workers:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in workers:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()


@pytest.mark.measured
async def test_several_processes_append_to_one_session_in_one_order(path: Path) -> None:
    async with opened(path) as journal:
        await journal.create("ses_1", [SessionCreated()])
    workers = [worker(path, "ses_1", 300) for _ in range(3)]
    let_go(workers)
    for one in workers:
        one.communicate()
        assert one.returncode == 0
    found = rows(path)
    assert [row.sequence for row in found] == list(range(1, 902))
    assert all(is_genuine(row, CHAIN) for row in found)
    assert all(later.previous == row.hash for row, later in pairwise(found))


@pytest.mark.parametrize("seed", range(6))
async def test_what_was_acknowledged_survives_a_kill_at_any_moment(path: Path, seed: int) -> None:
    moments = random.Random(seed)
    async with opened(path) as journal:
        await journal.create("ses_1", [SessionCreated()])
    acknowledged: list[str] = []
    with worker(path, "ses_1", 100_000) as running:
        let_go([running])
        assert running.stdout is not None
        acknowledged += [running.stdout.readline() for _ in range(moments.randrange(1, 300))]
        running.kill()
        acknowledged += running.stdout.readlines()
    found = {f"{row.sequence} {row.id}\n" for row in rows(path)}
    assert {line for line in acknowledged if line.endswith("\n")} <= found
    assert all(is_genuine(row, CHAIN) for row in rows(path))
    async with opened(path) as journal:
        (event,) = await journal.append("ses_1", [UserMessage(message="and on")])
        assert event.sequence == len(found) + 1


def test_a_file_that_is_no_journal_is_told(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(JournalUnavailable, match=r"is damaged .* restore it from a copy"):
        made(path)


def test_a_newer_file_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(JournalUnavailable, match=r"written by a newer holdfast .* update holdfast"):
        made(path)


def test_a_link_in_its_place_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(JournalUnavailable, match="symbolic link"):
        made(path)
    assert not (tmp_path / "elsewhere").exists()


async def test_a_full_disk_loses_nothing_and_is_told(path: Path) -> None:
    async with opened(path) as journal:
        await journal.create("ses_1", [SessionCreated()])
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
        try:
            with pytest.raises(JournalUnavailable, match=str(path)):
                await journal.append("ses_1", [UserMessage(message="x" * 1_000_000)])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        (event,) = await journal.append("ses_1", [UserMessage(message="room again")])
        assert event.sequence == 2
    assert len(rows(path)) == 2


def test_what_a_failed_work_changed_is_not_remembered(path: Path) -> None:
    committer = SqliteCommitter(path, "process")
    event = Unwritten("evt_1", 1, None, SessionCreated())
    committer.commit([Appending("ses_1", [event], CHAIN, creates=True)], wait=True)

    def breaks(desk: Desk) -> None:
        desk.put_session(known("ses_1", desk)._replace(sequence=99))
        raise RuntimeError

    def looks(desk: Desk) -> int:
        return known("ses_1", desk).sequence

    found = committer.commit([breaks], wait=True)
    assert found is not None
    assert isinstance(found[0], RuntimeError)
    assert committer.commit([looks], wait=True) == [1]
    committer.close()


async def test_one_work_that_fails_harms_no_other(path: Path) -> None:
    async with opened(path) as journal:
        await journal.create("ses_1", [SessionCreated()])
        refusals: list[JournalError] = []

        async def in_vain() -> None:
            try:
                await journal.append("ses_2", [UserMessage(message="to nobody")])
            except JournalError as problem:
                refusals.append(problem)

        async with create_task_group() as group:
            for number in range(30):
                group.start_soon(journal.append, "ses_1", [UserMessage(message=f"{number}")])
                group.start_soon(in_vain)
        assert len(refusals) == 30
        assert (await journal.session("ses_1")).sequence == 31


async def test_what_cannot_be_written_leaves_nothing_and_blocks_nobody(path: Path) -> None:
    async with opened(path) as journal:
        unwritable = SessionCreated(metadata={"thing": cast("JsonValue", object())})
        with pytest.raises(TypeError, match="unsupported"):
            await journal.create("ses_1", [SessionCreated(), unwritable])
        assert await journal.events("ses_1") == ()
        (event,) = await journal.create("ses_1", [SessionCreated()])
        assert event.sequence == 1


@pytest.mark.parametrize("payloads", [["x" * 100_000], ["x"] * 40], ids=["large", "many"])
async def test_what_is_large_is_not_written_by_the_event_loop(
    path: Path, payloads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    writers: list[str] = []
    commit = SqliteCommitter.commit

    def seen(
        committer: SqliteCommitter, works: Sequence[Work[Desk]], *, wait: bool
    ) -> Sequence[object | Exception] | None:
        writers.append(threading.current_thread().name)
        return commit(committer, works, wait=wait)

    async with opened(path) as journal:
        await journal.create("ses_1", [SessionCreated()])
        monkeypatch.setattr(SqliteCommitter, "commit", seen)
        await journal.append("ses_1", [UserMessage(message="small")])
        await journal.append("ses_1", [UserMessage(message=said) for said in payloads])
    assert writers == [threading.main_thread().name, "holdfast journal"]


async def test_what_is_no_question_is_told(tmp_path: Path) -> None:
    clock = SystemClock()
    journal = open_sqlite(tmp_path / "h.db", Chain(b""), clock, TimeIds(clock)).journal
    await journal.close()
    reader = SqliteReader(tmp_path / "h.db")
    with pytest.raises(JournalUnavailable, match="no such table: nowhere"):
        reader.rows("SELECT 1 FROM nowhere", ())
    reader.close()
