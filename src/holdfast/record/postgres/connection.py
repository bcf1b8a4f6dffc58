"""A process's way into one PostgreSQL database: its connections, and errors that say what to do.

All of it blocks and belongs into threads. The URL holds a password: it is never shown. What is
stored, and in which tables, is not known here.
"""

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from holdfast.contract.journal import JournalUnavailable

Connection = psycopg.Connection[TupleRow]
"""Commits each statement by itself, outside of `connection.transaction()`."""

MOST_CONNECTIONS = 4
"""That one process borrows at a time; further readers wait."""
WAIT_SECONDS = 5.0
"""How long a connection may be waited for."""
_DEFAULTS = {"application_name": "holdfast", "client_encoding": "utf8"}
_UNREADABLE = (
    "the URL of PostgreSQL cannot be read; write postgresql://user:password@host:port/database,"
    " with %2F for / and %40 for @ in a password"
)
_AT_THE_DOOR = (
    ("password authentication failed|no password supplied", "correct user and password of the URL"),
    ("no pg_hba.conf entry", "add a line to its pg_hba.conf that lets this machine in"),
    ('database ".*" does not exist', "create the database with: createdb"),
    ("too many clients|slots are reserved", "raise its max_connections, or end other clients"),
    ("the database system is", "try again in a moment"),
    ("", "is the server running, are host and port of the URL right?"),
)
"""A refused connection has no code, only words: which, and what to do; the first that fits."""


class PostgresConnections:
    """Connections that are borrowed, and connections of one's own."""

    def __init__(
        self, url: str, *, most: int = MOST_CONNECTIONS, wait_seconds: float = WAIT_SECONDS
    ) -> None:
        """Connects to nobody yet; a URL that cannot be read is a JournalUnavailable."""
        told = _parsed(url)
        self.place = _place(told)
        """What may be shown of the URL."""
        told.setdefault("connect_timeout", str(max(2, int(wait_seconds))))
        self._conninfo = make_conninfo("", **{**_DEFAULTS, **told})
        self._pool = ConnectionPool(
            self._conninfo,
            kwargs={"autocommit": True},
            min_size=0,
            max_size=most,
            timeout=wait_seconds,
            check=ConnectionPool.check_connection,
            name="holdfast",
            open=True,
        )

    def connect(self) -> Connection:
        """One of the caller's own, to be closed by it."""
        with self.told():
            return psycopg.connect(self._conninfo, autocommit=True)

    @contextmanager
    def borrowed(self) -> Generator[Connection]:
        """One that works, for a moment."""
        with self.told():
            try:
                connection = self._pool.getconn()
            except PoolTimeout:
                self.connect().close()  # it says why there was none
                raise
            try:
                yield connection
            finally:
                self._pool.putconn(connection)

    @contextmanager
    def told(self) -> Generator[None]:
        """Failures of the server, with what to do."""
        try:
            yield
        except psycopg.Error as problem:
            raise JournalUnavailable(f"{self.place}: {_said(problem)}") from None

    def close(self) -> None:
        """Let go of those that are not in use."""
        self._pool.close()


def _parsed(url: str) -> dict[str, str]:
    """What a URL says. The parser's own complaint may hold a part of the password."""
    try:
        told = {name: str(value) for name, value in conninfo_to_dict(url).items()}
    except psycopg.ProgrammingError:
        raise JournalUnavailable(_UNREADABLE) from None
    # An @ behind the host: a password with a / was taken for host, port and database.
    if any("@" in told.get(name, "") for name in ("host", "port", "dbname")):
        raise JournalUnavailable(_UNREADABLE)
    return told


def _place(told: Mapping[str, str]) -> str:
    user = f"{told['user']}@" if "user" in told else ""
    port = f":{told['port']}" if "port" in told else ""
    return f"postgresql://{user}{told.get('host', '')}{port}/{told.get('dbname', '')}"


def _said(problem: psycopg.Error) -> str:
    text = " ".join(str(problem).split())
    match problem:
        case errors.DiskFull():
            return "the server's disk is full; nothing was written: make room, then go on"
        case errors.ReadOnlySqlTransaction():
            return f"it can only be read ({text}); name the server that can be written"
        case errors.InsufficientPrivilege():
            return f"the user lacks a privilege ({text}); grant it, or name the owner"
        case PoolClosed():
            return "the store is closed"
        case PoolTimeout():
            return "all connections are in use; try again"
        case psycopg.OperationalError(sqlstate=None):
            todo = next(todo for words, todo in _AT_THE_DOOR if re.search(words, text))
            return f"{text}; {todo}"
        case errors.AdminShutdown() | errors.CrashShutdown() | errors.CannotConnectNow():
            return f"the server went away ({text}); start it, then try again"
        case _:
            return text
