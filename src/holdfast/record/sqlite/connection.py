"""Opening the file: for its owner alone, with a log written ahead; errors say what to do."""

import errno
import os
import sqlite3
import time
from pathlib import Path
from typing import Literal

from holdfast.contract.journal import JournalUnavailable
from holdfast.record.sqlite.schema import check_ours, migrate

Durability = Literal["process", "power"]
"""What an acknowledged append survives: the end of any process, or of the machine's power, too."""

BUSY_SECONDS = 5.0
"""How long another process may keep the file locked."""
POLL_SECONDS = 0.002
LOG_BYTES = 16 << 20
"""How much is written ahead before it is moved into the file."""
_REFUSALS = {
    errno.ELOOP: "put the file itself there",
    errno.EISDIR: "move the folder away",
    errno.ENOTDIR: "one of its folders is a file: move that away",
    errno.EEXIST: "one of its folders is a file: move that away",
    errno.EACCES: "check its owner and mode, and those of its folder",
    errno.EPERM: "check its owner and mode, and those of its folder",
    errno.EROFS: "name a place that can be written",
    errno.ENOSPC: "make room, then go on",
}
"""What to do about what the system refused."""
_SYNCHRONOUS = {"process": "NORMAL", "power": "FULL"}


def open_writer(path: Path, durability: Durability) -> sqlite3.Connection:
    """The one connection a process writes with; the tables are there afterwards."""
    with told(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        connection = _connected(path)
        try:
            check_ours(connection)
            _write_ahead(connection)
            connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[durability]}")
            migrate(connection)
            # Whoever commits decides whether to wait, and nobody's commit moves the whole log.
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
        except BaseException:
            connection.close()
            raise
        return connection


def open_tidier(path: Path) -> sqlite3.Connection:
    """The connection that moves what was written ahead into the file."""
    with told(path):
        return _connected(path)


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that can only read."""
    with told(path):
        connection = _connected(path)
        connection.execute("PRAGMA query_only = ON")
        return connection


class told:
    """Failures of the store, with what to do."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Nothing yet."""

    def __exit__(
        self, _kind: type[BaseException] | None, problem: BaseException | None, _trace: object
    ) -> None:
        """JournalUnavailable."""
        if problem is not None:
            said = _told(self._path, problem)
            if said is not None:
                known = isinstance(problem, JournalUnavailable)
                kind = type(problem) if known else JournalUnavailable
                raise kind(f"{self._path}: {said}") from None


def _told(path: Path, problem: BaseException) -> str | None:
    if isinstance(problem, sqlite3.Error):
        return _said(problem)
    if isinstance(problem, OSError):
        return _refused(problem)
    if isinstance(problem, JournalUnavailable) and not str(problem).startswith(str(path)):
        return str(problem)
    return None


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def is_busy(problem: sqlite3.Error) -> bool:
    """Whether somebody else has the file, in whichever way."""
    return problem.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Where two make the file at once, one is refused without having waited: it tries again."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as problem:
            if not is_busy(problem) or time.monotonic() > until:
                raise
            time.sleep(POLL_SECONDS)
        else:
            return


def _refused(problem: OSError) -> str:
    said = problem.strerror or str(problem)
    if problem.errno == errno.ELOOP:
        said = "it is a symbolic link"
    todo = _REFUSALS.get(problem.errno or 0)
    return said if todo is None else f"{said}; {todo}"


def _said(problem: sqlite3.Error) -> str:
    code = getattr(problem, "sqlite_errorname", "")
    if code.startswith("SQLITE_FULL"):
        return "the disk is full; nothing was written: make room, then go on"
    if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return f"it cannot be written ({problem}); check its owner and mode"
    if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return f"it is damaged ({problem}); restore it from a copy"
    if code.startswith("SQLITE_BUSY"):
        return f"another process has kept it locked for {BUSY_SECONDS:g} s; try again"
    if code.startswith("SQLITE_IOERR"):
        return f"{problem}; see whether the disk is full or broken, or how large a file may be"
    return str(problem)
