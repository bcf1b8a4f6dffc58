"""Opening the file: for its owner alone, with a log written ahead; errors say what to do."""

import errno
import os
import sqlite3
import time
from pathlib import Path
from typing import Literal

from holdfast.contract.journal import JournalUnavailable, JournalUnusable
from holdfast.record.sqlite.alone import connected
from holdfast.record.sqlite.schema import check_ours, migrate
from holdfast.record.unavailable import NoRoom, NotWritable, refusal, refused

Durability = Literal["process", "power"]
"""What an acknowledged append survives: the end of any process, or of the machine's power, too."""

BUSY_SECONDS = 5.0
"""How long another process may keep the file locked."""
POLL_SECONDS = 0.002
LOG_BYTES = 16 << 20
"""How much is written ahead before it is moved into the file."""
_RESTORE = "restore it from a copy"
_SYNCHRONOUS = {"process": "NORMAL", "power": "FULL"}


def open_writer(path: Path, durability: Durability, *, alone: bool = False) -> sqlite3.Connection:
    """The one connection a process writes with; the tables are there afterwards.

    ``alone``: where there is no room to share the file, no other process uses it meanwhile.
    """
    with told(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make_private(path)
        connection = _connected(path, alone=alone)
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
        return _connected(path, alone=True)


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that can only read."""
    with told(path):
        connection = _connected(path, alone=True)
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
                raise said from None


def _told(path: Path, problem: BaseException) -> JournalUnavailable | None:
    if isinstance(problem, sqlite3.Error):
        return _said(path, problem)
    if isinstance(problem, UnicodeDecodeError):  # what SQLite says of it quotes what is there
        return JournalUnusable(f"{path}: it is damaged ({problem.reason}); {_RESTORE}")
    if isinstance(problem, OSError):
        return refused(path, problem)
    if isinstance(problem, JournalUnavailable) and not str(problem).startswith(str(path)):
        return type(problem)(f"{path}: {problem}")
    return None


def _make_private(path: Path) -> None:
    """Make the file for its owner alone, where there is none.

    One that is there is not opened here: closing it would end every lock that connections of this
    process have on it, and the next process to close it would remove a log that is in use.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        if path.is_symlink():
            raise refusal(errno.ELOOP) from None
        if path.is_dir():
            raise refusal(errno.EISDIR) from None
        if not os.access(path, os.R_OK | os.W_OK):
            locked = os.statvfs(path).f_flag & os.ST_RDONLY
            raise refusal(errno.EROFS if locked else errno.EACCES) from None


def _connected(path: Path, *, alone: bool) -> sqlite3.Connection:
    connection = connected(path, BUSY_SECONDS, alone=alone)
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


def _said(path: Path, problem: sqlite3.Error) -> JournalUnavailable:
    code = getattr(problem, "sqlite_errorname", "")
    if code.startswith(("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE")):
        return NoRoom.at(path)
    if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return NotWritable(f"{path}: it cannot be written ({problem}); check its owner and mode")
    if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return JournalUnusable(f"{path}: it is damaged ({problem}); {_RESTORE}")
    return JournalUnavailable(f"{path}: {_described(code, problem)}")


def _described(code: str, problem: sqlite3.Error) -> str:
    if code.startswith("SQLITE_BUSY"):
        return f"another process has kept it locked for {BUSY_SECONDS:g} s; try again"
    if code.startswith("SQLITE_IOERR"):
        return f"{problem}; see whether the disk is full or broken, or how large a file may be"
    return str(problem)
