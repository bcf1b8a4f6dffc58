"""The files of carried workspaces in the SQLite file: each question on a connection of its own."""

import json
import sqlite3
from collections.abc import Collection, Generator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from anyio import to_thread

from holdfast.record.sqlite.connection import (
    BUSY_SECONDS,
    Durability,
    open_reader,
    open_writer,
    told,
)

_PUT = "INSERT OR IGNORE INTO workspace_pieces VALUES (?, ?, ?)"
_READ = (
    "SELECT name, content FROM workspace_pieces"
    " WHERE session_id = ? AND name IN (SELECT value FROM json_each(?))"
)
_EPOCH = "SELECT epoch FROM chat_sessions WHERE id = ?"
_REMOVE = (
    "DELETE FROM workspace_pieces"
    " WHERE session_id = ? AND name NOT IN (SELECT value FROM json_each(?))"
)


class SqliteCarried:
    """A CarriedStore."""

    def __init__(self, path: Path, durability: Durability) -> None:
        self._path = path
        self._durability: Durability = durability

    async def put(self, session_id: str, pieces: Mapping[str, bytes], /) -> None:
        """Store them, all or none; one that is there is left as it is."""
        await to_thread.run_sync(self._put, session_id, pieces)

    async def read(self, session_id: str, names: Collection[str], /) -> Mapping[str, bytes]:
        """Those of them that there are."""
        return await to_thread.run_sync(self._read, session_id, names)

    async def keep_only(self, session_id: str, names: Collection[str], /, *, epoch: int) -> bool:
        """Remove all other pieces of the session, while this epoch is the newest one."""
        return await to_thread.run_sync(self._keep_only, session_id, names, epoch)

    def _put(self, session_id: str, pieces: Mapping[str, bytes]) -> None:
        with self._writing() as connection:
            rows = [(session_id, name, content) for name, content in pieces.items()]
            connection.executemany(_PUT, rows)

    def _read(self, session_id: str, names: Collection[str]) -> Mapping[str, bytes]:
        with closing(open_reader(self._path)) as connection, told(self._path):
            return dict(connection.execute(_READ, (session_id, json.dumps([*names]))))

    def _keep_only(self, session_id: str, names: Collection[str], epoch: int) -> bool:
        with self._writing() as connection:
            if connection.execute(_EPOCH, (session_id,)).fetchone() != (epoch,):
                return False
            connection.execute(_REMOVE, (session_id, json.dumps([*names])))
            return True

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        with closing(open_writer(self._path, self._durability)) as connection, told(self._path):
            connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
            connection.execute("PRAGMA wal_autocheckpoint = 1000")
            # What fails is taken back when the connection is closed.
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
