"""A SQLite store beside other processes, forks, other clocks and other versions of holdfast."""

import os
import sqlite3
import sys
import threading
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from record.store_kit import CHILD, check_whole, child, opened, store, told
from record.store_places import at

from holdfast import Holdfast, tool
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.contract.journal import Journal, JournalUnavailable
from holdfast.record.codec import UnreadableEvent

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "holdfast.db"


@tool
async def save(text: str) -> str:
    """Save it."""
    return text


def test_many_who_make_the_file_at_once_all_get_it(tmp_path: Path) -> None:
    for number in range(3):
        path = tmp_path / str(number) / "holdfast.db"
        moment = str(time.time() + 1.0)
        running = [child("at a moment", path, moment) for _ in range(5)]
        answers = [one.communicate(timeout=15)[0] for one in running]
        # Who makes the session is decided by the store: the others are told that there is one.
        assert all("written as" in one or "already" in one for one in answers), answers
        check_whole(path)


async def test_a_forked_child_is_told_to_open_it_again(path: Path) -> None:
    async with opened(path) as journal:
        await journal.create("ses_1", [SessionCreated()])
        read, write = os.pipe()
        number = os.fork()
        if number == 0:
            os.write(write, "\n".join(_in_the_child(journal, path)).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as answers:
            said = answers.read().split("\n")
        assert os.waitpid(number, 0)[1] == 0  # noqa: ASYNC222 - it has said all
        told_so = "the store was opened before this process was forked; open it again in the child"
        assert said == [told_so, told_so, "closed", "2"]
        (event,) = await journal.append("ses_1", [UserMessage(message="parent")])
        assert event.sequence == 3
    assert check_whole(path) == 3


def _in_the_child(journal: Journal, path: Path) -> list[str]:
    said: list[str] = []

    async def use() -> None:
        for using in (journal.append("ses_1", [UserMessage(message="")]), journal.events("ses_1")):
            try:
                await using
            except JournalUnavailable as problem:
                said.append(str(problem))
        await journal.close()
        said.append("closed")
        async with opened(path) as own:
            (event,) = await own.append("ses_1", [UserMessage(message="child")])
            said.append(str(event.sequence))

    thread = threading.Thread(target=anyio.run, args=(use,))  # a loop runs in this one
    thread.start()
    thread.join()
    return said


async def test_children_that_end_while_it_is_written_harm_nothing(path: Path) -> None:
    """Their interpreters close what they inherited."""
    script = (
        "import os, sys, threading, anyio; from pathlib import Path;"
        "sys.path.insert(0, sys.argv[2]); from record.store_child import made;"
        "from holdfast.contract.events import SessionCreated, UserMessage\n"
        "async def main():\n"
        "    journal = made(Path(sys.argv[1]))\n"
        "    await journal.create('ses_1', [SessionCreated()])\n"
        "    done = threading.Event()\n"
        "    def fork():\n"
        "        for _ in range(25):\n"
        "            number = os.fork()\n"
        "            if number == 0: sys.exit(0)\n"
        "            os.waitpid(number, 0)\n"
        "        done.set()\n"
        "    threading.Thread(target=fork).start()\n"
        "    while not done.is_set():\n"
        "        await journal.append('ses_1', [UserMessage(message='x' * 300)])\n"
        "        await anyio.sleep(0)\n"
        "    await journal.close()\n"
        "anyio.run(main)\n"
    )
    argv = [sys.executable, "-c", script, str(path), str(CHILD.parents[1])]
    done = await anyio.run_process(argv, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert check_whole(path) > 25


class Backwards:
    """A clock that somebody turns back by a minute at every look."""

    def __init__(self) -> None:
        self._now = time.time_ns()

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.unix_ns() / 1e9, UTC)

    def unix_ns(self) -> int:
        self._now -= 60_000_000_000
        return self._now

    def ticks(self) -> int:
        return time.perf_counter_ns()


async def test_a_clock_that_goes_backwards_changes_no_order(path: Path) -> None:
    kept = store(path, Backwards())
    journal = kept.journal
    await journal.create("ses_1", [SessionCreated()])
    lease = await journal.lease("ses_1", "here", 600)
    for number in range(20):
        await journal.append("ses_1", [UserMessage(message=f"{number}")], epoch=lease.epoch)
    lease = await journal.renew(lease, 600)
    await journal.release(lease)
    assert (await journal.lease("ses_1", "there", 600)).epoch == lease.epoch + 1
    events = await journal.events("ses_1")
    assert len({event.id for event in events}) == 21
    said = [one.payload.message for one in events if isinstance(one.payload, UserMessage)]
    assert said == [f"{number}" for number in range(20)]
    assert await kept.archive.rebuild("ses_1", repair=False) == ()
    await journal.close()
    assert check_whole(path) == 21


def test_a_process_without_streams_writes_into_its_file_alone(path: Path) -> None:
    assert told("without streams", path) == ""
    assert check_whole(path) == 2


async def test_an_event_of_a_newer_holdfast_is_told_and_others_are_read(path: Path) -> None:
    async with opened(path) as journal:
        for name in ("ses_1", "ses_2"):
            await journal.create(name, [SessionCreated(), UserMessage(message="x")])
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE events SET version = 99 WHERE {at('ses_1', 2)}")
    connection.commit()
    connection.close()
    async with opened(path) as journal:
        with pytest.raises(UnreadableEvent, match="update holdfast to read this session"):
            await journal.events("ses_1")
        assert len(await journal.events("ses_2")) == 2
        (event,) = await journal.append("ses_1", [UserMessage(message="still")])
        assert event.sequence == 3


@pytest.mark.parametrize("state", ["no state", "{}}", '{"calls": 3}'])
async def test_a_damaged_row_is_told_to_whoever_calls(tmp_path: Path, state: str) -> None:
    surroundings = Surroundings(data_home=tmp_path / "data", state_home=tmp_path / "state")
    async with Holdfast(tools=[save], settings=Settings(), surroundings=surroundings) as hf:
        assert (await hf.settle("save", {"text": "x"})).ok
        connection = sqlite3.connect(tmp_path / "data" / "holdfast.db")
        (kept,) = connection.execute("SELECT state_json FROM chat_sessions").fetchone()
        connection.execute("UPDATE chat_sessions SET state_json = ?", (state,))
        connection.commit()
        answer = await hf.settle("save", {"text": "y"})
        assert answer.failure is not None
        assert "is damaged" in answer.failure.message
        assert "restore the store from a copy" in answer.failure.message
        connection.execute("UPDATE chat_sessions SET state_json = ?", (kept,))
        connection.commit()
        connection.close()
        assert (await hf.settle("save", {"text": "z"})).ok


async def test_who_is_refused_while_another_makes_the_file_tries_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite does not always wait before it refuses: here, three times."""
    refusals = [_busy(path.parent / "other.db") for _ in range(3)]

    class Impatient(sqlite3.Connection):
        def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
            if "journal_mode" in sql and refusals:
                raise refusals.pop()
            return super().execute(sql, parameters)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Impatient))
    async with opened(path) as journal:
        await journal.create("ses_1", [SessionCreated()])
    assert refusals == []


def _busy(path: Path) -> sqlite3.OperationalError:
    """A real refusal."""
    path.parent.mkdir(exist_ok=True)
    holding, asking = (sqlite3.connect(path, isolation_level=None, timeout=0) for _ in range(2))
    holding.execute("BEGIN EXCLUSIVE")
    with pytest.raises(sqlite3.OperationalError, match="locked") as refused:
        asking.execute("BEGIN IMMEDIATE")
    holding.close()
    asking.close()
    return refused.value
