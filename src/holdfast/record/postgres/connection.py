"""A process's way into one PostgreSQL database: its connections, and errors that say what to do.

All of it blocks, though never without end, and belongs into threads. The URL holds a password: it
is never shown. What is stored, and in which tables, is not known here.
"""

import logging
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from time import monotonic

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from holdfast.contract.journal import JournalUnavailable
from holdfast.record.postgres.patience import Connection, PatientConnection, Unanswered

# The client complains at every attempt; whoever asked is told once. Not for a terminal's eyes.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

MOST_CONNECTIONS = 4
"""That one process borrows at a time; further readers wait."""
WAIT_SECONDS = 5.0
"""How long a connection may be waited for."""
READ_SECONDS = 120.0
"""How long the server may think about a question."""
_AGAIN_SECONDS = 0.25
"""How often a new connection is tried for whoever waits for one."""
_CHECK_SECONDS = 2.0
"""How long a connection that nobody used may take to say that it works."""
_DEFAULTS = {
    "application_name": "holdfast",
    "client_encoding": "utf8",
    # A network that is gone is noticed by the system, which otherwise waits for hours.
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "20000",
}
_UNREADABLE = (
    "the URL of PostgreSQL cannot be read; write postgresql://user:password@host:port/database,"
    " with %2F for / and %40 for @ in a password"
)
_TOLD = (
    (errors.DiskFull, "the server's disk is full; nothing was written: make room, then go on"),
    (
        errors.ReadOnlySqlTransaction,
        "it can only be read ({text}); name the server that can be written",
    ),
    (
        errors.InsufficientPrivilege,
        "the user lacks a privilege ({text}); grant it, or name the owner",
    ),
    (
        errors.LockNotAvailable,
        "somebody keeps it locked ({text}); nothing was written: end that"
        " client's transaction (see pg_stat_activity), then try again",
    ),
    (
        Unanswered,
        "{text}, and may or may not have done what it was asked for last; see whether it is stopped"
        " or overloaded, then try again",
    ),
    (
        (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow),
        "the server went away ({text}); start it, then try again",
    ),
    (PoolClosed, "the store is closed"),
    (PoolTimeout, "all connections are in use; try again"),
)
_AT_THE_DOOR = (
    ("password authentication failed|no password supplied", "correct user and password of the URL"),
    ("no pg_hba.conf entry", "add a line to its pg_hba.conf that lets this machine in"),
    ('database ".*" does not exist', "create the database with: createdb"),
    ("too many clients|slots are reserved", "raise its max_connections, or end other clients"),
    ("the database system is", "try again in a moment"),
    (
        "SSL|certificate",
        "correct sslmode, sslrootcert and the host of the URL, or the certificate of the server",
    ),
    ("", "start the server, or correct host and port of the URL"),
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
        self._wait_seconds = wait_seconds
        self._conninfo = make_conninfo("", **{**_DEFAULTS, **told})
        self._pool = ConnectionPool(
            self._conninfo,
            connection_class=PatientConnection,
            kwargs={"autocommit": True},
            min_size=0,
            max_size=most,
            # Who waits for one asks again and again: the pool itself would rest between its tries,
            # twice as long each time, and notice late that the server is there again.
            reconnect_timeout=0,
            configure=_configure_reader,
            name="holdfast",
            open=True,
        )

    def connect(self) -> PatientConnection:
        """One of the caller's own, to be closed by it."""
        with self.told():
            connection = PatientConnection.connect(self._conninfo, autocommit=True)
        _configure(connection)
        return connection

    @contextmanager
    def borrowed(self) -> Generator[PatientConnection]:
        """One that works, for a moment."""
        with self.told():
            try:
                connection = self._lent()
            except PoolTimeout:
                self.connect().close()  # it says why there was none
                raise
            try:
                yield connection
            finally:
                self._pool.putconn(connection)

    def _lent(self) -> PatientConnection:
        """One that works; PoolTimeout. Those whose server is gone or stopped are let go."""
        until = monotonic() + self._wait_seconds
        while True:
            left = until - monotonic()
            try:
                connection = self._pool.getconn(min(left, _AGAIN_SECONDS))
            except PoolTimeout:
                if left <= _AGAIN_SECONDS:
                    raise
                continue
            works = False
            try:
                works = _works(connection)
            finally:
                if not works:
                    connection.close()
                    self._pool.putconn(connection)
            if works:
                return connection

    @contextmanager
    def told(self) -> Generator[None]:
        """Failures of the server, with what to do."""
        try:
            yield
        except psycopg.Error as problem:
            raise self.said(problem) from None

    def said(self, problem: psycopg.Error) -> JournalUnavailable:
        """A failure of the server, with what to do."""
        return JournalUnavailable(f"{self.place}: {_said(problem)}")

    def close(self) -> None:
        """Let go of those that are not in use."""
        self._pool.close()


def _configure(connection: Connection) -> None:
    """Whoever waited for a lock sees what was written meanwhile, whatever the server's default."""
    connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED


def _configure_reader(connection: PatientConnection) -> None:
    _configure(connection)
    connection.patience = READ_SECONDS


def _works(connection: PatientConnection) -> bool:
    try:
        with connection.patient_for(_CHECK_SECONDS):
            ConnectionPool.check_connection(connection)
    except psycopg.Error:
        return False
    return True


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
    lines = str(problem).splitlines()
    text = " ".join(line for line in lines if not line.startswith("\t"))  # the client's own hints
    for kinds, said in _TOLD:
        if isinstance(problem, kinds):
            return said.format(text=text)
    if isinstance(problem, psycopg.OperationalError) and problem.sqlstate is None:
        todo = next(todo for words, todo in _AT_THE_DOOR if re.search(words, text))
        return f"{text}; {todo}"
    return text
