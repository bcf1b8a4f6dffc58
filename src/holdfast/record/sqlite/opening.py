"""Opening the store that is one SQLite file."""

import sqlite3
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue

from holdfast.contract.ports import Clock, IdSource
from holdfast.record.anchors import NO_ANCHORS, Anchors
from holdfast.record.codec import Chain
from holdfast.record.journal import StoreParts
from holdfast.record.later_versions import ClosedAnywhere
from holdfast.record.owner import Owner
from holdfast.record.sql import Row
from holdfast.record.sqlite import carried, versions
from holdfast.record.sqlite.connection import Durability, open_reader, told
from holdfast.record.sqlite.legible import fetched
from holdfast.record.sqlite.schema import check_up_to_date
from holdfast.record.sqlite.search import SqliteIndex
from holdfast.record.sqlite.store import SqliteCommitter
from holdfast.record.sqlite.upkeep import SqliteBroom
from holdfast.record.store import Store, store_of


def open_sqlite(
    path: Path,
    chain: Chain,
    clock: Clock,
    ids: IdSource,
    anchors: Anchors = NO_ANCHORS,
    durability: Durability = "process",
) -> Store:
    """Open it, and make it where there is none. Blocking; raises JournalUnavailable."""
    parts = StoreParts(
        committer=SqliteCommitter(path, durability),
        reader=SqliteReader(path),
        chain=chain,
        clock=clock,
        ids=ids,
        # A commit that waits for the disk would hold up the event loop.
        quick=durability == "process",
        anchors=anchors,
    )

    def opened() -> ClosedAnywhere:
        return versions.open_versions(path, clock, ids, durability)

    store = store_of(parts, SqliteIndex(path), SqliteBroom(path), opened)
    return store._replace(carried=lambda: carried.SqliteCarried(path, durability))


class SqliteReader:
    """Connections that only read: as many as are used at once, each kept for the next question."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._owner = Owner()
        self._idle: SimpleQueue[sqlite3.Connection] = SimpleQueue()

    def rows(self, statement: str, values: Sequence[object], /) -> list[Row]:
        """What a statement finds; JournalUnavailable."""
        self._owner.check()
        try:
            reader = self._idle.get_nowait()
        except Empty:
            reader = self._opened()
        with told(self._path):
            try:
                found = fetched(reader, statement, values)
            except BaseException:
                reader.close()
                raise
        self._idle.put(reader)
        return found

    @contextmanager
    def snapshot(self) -> Generator["SqliteSnapshot"]:
        """The file as it is at one moment, whatever is written meanwhile."""
        self._owner.check()
        with told(self._path), closing(self._opened()) as connection:
            connection.execute("BEGIN")
            yield SqliteSnapshot(self._path, connection)

    def _opened(self) -> sqlite3.Connection:
        reader = open_reader(self._path)
        with told(self._path):
            try:
                check_up_to_date(reader)
            except BaseException:
                reader.close()
                raise
        return reader

    def close(self) -> None:
        """Let go of the file; in a forked child it is the parent's to do."""
        if not self._owner.is_here:
            return
        with suppress(Empty):
            while True:
                self._idle.get_nowait().close()


class SqliteSnapshot:
    """Reads in one transaction, which whoever made it ends."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    def rows(self, statement: str, values: Sequence[object], /) -> list[Row]:
        """What a statement finds; JournalUnavailable."""
        with told(self._path):
            return fetched(self._connection, statement, values)
