"""A SQLite store of the attacks, and what has to be true of its file afterwards."""

import sqlite3
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

from record.store_child import KEY
from record.store_places import EVERY_EVENT

from holdfast.contract.journal import Journal
from holdfast.contract.ports import Clock
from holdfast.record.codec import Chain, Stored, is_genuine
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

CHAIN = Chain(KEY)
CHILD = Path(__file__).with_name("store_child.py")


def store(path: Path, clock: Clock | None = None) -> Store:
    clock = clock or SystemClock()
    return open_sqlite(path, CHAIN, clock, TimeIds(clock))


@asynccontextmanager
async def opened(path: Path, clock: Clock | None = None) -> AsyncGenerator[Journal]:
    journal = store(path, clock).journal
    try:
        yield journal
    finally:
        await journal.close()


def child(what: str, path: Path, *more: str) -> "subprocess.Popen[str]":
    argv = [sys.executable, str(CHILD), what, str(path), *more]
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def told(what: str, path: Path) -> str:
    with child(what, path) as running:
        found = running.communicate(timeout=15)[0]
    assert running.returncode == 0
    return found


def rows(path: Path) -> list[Stored]:
    connection = sqlite3.connect(path)
    found = connection.execute(EVERY_EVENT).fetchall()
    connection.close()
    return [Stored(*row) for row in found]


def check_whole(path: Path) -> int:
    """Gapless, genuine, sound; how many events."""
    found = rows(path)
    assert [row.sequence for row in found] == list(range(1, len(found) + 1))
    assert all(is_genuine(row, CHAIN) for row in found)
    assert all(later.previous == row.hash for row, later in pairwise(found))
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    return len(found)


def is_whole(path: Path) -> bool:
    try:
        return check_whole(path) > 0
    except (AssertionError, sqlite3.Error):
        return False
