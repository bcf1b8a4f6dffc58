"""Connections to a file, shared with other processes where there is room for that, else alone.

Processes share a log by memory in a file beside it, which a full disk has no room for: not even
reading would work. A process that has the file for itself needs no such memory. Its connections
must all be of one kind, or its lock on the file would be lost with the first that is closed.
"""

import os
import sqlite3
import threading
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from holdfast.record.unavailable import NoRoom

_Identity = tuple[int, int]
_C = TypeVar("_C", bound=sqlite3.Connection)


class _Opened:
    """The files that this process has for itself, and by how many connections."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        """One is opened at a time: whether it is alone has to be known to the next."""
        self._counts: dict[_Identity, int] = {}

    def is_alone(self, file: _Identity | None) -> bool:
        """Whether it is one of them."""
        return file in self._counts

    def count(self, file: _Identity, more: int) -> None:
        """So many connections more, or less."""
        left = self._counts.get(file, 0) + more
        if left > 0:
            self._counts[file] = left
        else:
            self._counts.pop(file, None)

    def forget(self) -> None:
        """In the child after a fork: somebody may have had the turn, and nothing is its own."""
        self.turn = threading.Lock()
        self._counts = {}


_opened = _Opened()
os.register_at_fork(after_in_child=_opened.forget)


class _Alone(sqlite3.Connection):
    """One to a file that no other process uses until it is closed."""

    file: _Identity | None = None

    def close(self) -> None:
        """Let go of the file."""
        super().close()
        if self.file is not None:
            _opened.count(self.file, -1)
            self.file = None


def connected(path: Path, patience: float, *, alone: bool) -> sqlite3.Connection:
    """Open it and read its beginning; sqlite3.Error.

    ``alone``: no other process may use it meanwhile, if it cannot be shared; else NoRoom.
    """
    with _opened.turn:
        file = _identity(path)
        if not _opened.is_alone(file):
            try:
                return _begun(
                    sqlite3.connect(
                        path, timeout=patience, isolation_level=None, check_same_thread=False
                    )
                )
            except sqlite3.OperationalError as problem:
                if not alone or problem.sqlite_errorname != "SQLITE_IOERR_SHMSIZE":
                    raise
        if not alone or file is None:
            raise NoRoom.at(path)
        opened = _begun(
            sqlite3.connect(
                f"file:{quote(os.fsencode(path))}?vfs=unix-excl",
                timeout=patience,
                isolation_level=None,
                check_same_thread=False,
                factory=_Alone,
                uri=True,
            )
        )
        opened.file = file
        _opened.count(file, 1)
        return opened


def is_alone(path: Path) -> bool:
    """Whether this process has the file for itself, as there was no room to share it."""
    return _opened.is_alone(_identity(path))


def _begun(opened: _C) -> _C:
    try:
        opened.execute("PRAGMA schema_version").fetchone()
    except BaseException:
        opened.close()
        raise
    return opened


def _identity(path: Path) -> _Identity | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
