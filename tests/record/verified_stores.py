"""Stores with anchors, written, changed behind their backs and looked at."""

import sqlite3
from pathlib import Path

from record.store_places import at

from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.record.anchors import AnchorFiles, read_anchors
from holdfast.record.codec import Chain
from holdfast.record.sqlite.opening import SqliteReader, open_sqlite
from holdfast.record.store import Store
from holdfast.record.verifying import Problem, Verified, verify
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

CHAIN = Chain(b"k" * 32)
EVENTS = 6


def opened(root: Path) -> Store:
    clock = SystemClock()
    anchors = AnchorFiles(root / "anchors")
    return open_sqlite(root / "h.db", CHAIN, clock, TimeIds(clock), anchors=anchors)


def opened_beside(root: Path) -> Store:
    """The same with the key, and nobody told."""
    clock = SystemClock()
    return open_sqlite(root / "h.db", CHAIN, clock, TimeIds(clock))


async def written(root: Path) -> Path:
    """Two sessions of six events each, written and closed."""
    store = opened(root)
    for name in ("ses_1", "ses_2"):
        await store.journal.create(name, [SessionCreated()])
        for number in range(EVENTS - 1):
            await store.journal.append(name, [UserMessage(message=f"{name} {number}")])
    await store.journal.close()
    return root


def looked_at(root: Path, chain: Chain = CHAIN, only: str | None = None) -> list[Verified]:
    reader = SqliteReader(root / "h.db")
    try:
        return list(verify(reader, chain, read_anchors(root / "anchors"), only))
    finally:
        reader.close()


def problems(root: Path, chain: Chain = CHAIN) -> list[Problem]:
    return [problem for one in looked_at(root, chain) for problem in one.problems]


def changed(root: Path, *statements: str) -> None:
    connection = sqlite3.connect(root / "h.db")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def cut_off(root: Path, name: str, left: int, last: int) -> None:
    changed(
        root,
        *(f"DELETE FROM events WHERE {at(name, one)}" for one in range(left + 1, last + 1)),
        f"UPDATE chat_sessions SET sequence = {left}, hash = (SELECT hash FROM events"
        f" WHERE {at(name, left)}) WHERE id = '{name}'",
    )
