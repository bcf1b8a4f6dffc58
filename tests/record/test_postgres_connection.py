"""Connections to a real PostgreSQL: the door, what goes wrong and how it is told, the tables."""

import signal
import subprocess
import sys
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
from postgres_server import PASSWORD, PostgresServer, running_server
from psycopg import sql
from this_tree import this_tree

from holdfast.contract.journal import JournalUnavailable
from holdfast.record.postgres import schema
from holdfast.record.postgres.connection import PostgresConnections
from holdfast.record.postgres.door import load
from holdfast.record.postgres.schema import migrate

_SOCKET = ".s.PGSQL.5432"


@contextmanager
def opened(url: str, *, most: int = 4) -> Generator[PostgresConnections]:
    connections = PostgresConnections(url, most=most, wait_seconds=0.5)
    try:
        yield connections
    finally:
        connections.close()


def complaint(url: str) -> str:
    with opened(url) as connections, pytest.raises(JournalUnavailable) as raised:
        connections.connect()
    assert PASSWORD not in str(raised.value)
    return str(raised.value)


def test_a_borrowed_connection_asks_the_database(postgres_url: str) -> None:
    with opened(postgres_url) as connections:
        with connections.borrowed() as connection:
            assert connection.execute("SELECT 1 + 1").fetchone() == (2,)
        assert PASSWORD not in connections.place
        assert connections.place.startswith("postgresql://holdfast@/")


def test_each_test_has_a_database_of_its_own(postgres_server: PostgresServer) -> None:
    with postgres_server.database() as one, psycopg.connect(one) as connection:
        connection.execute("CREATE TABLE mine (x integer)")
        connection.commit()
        with postgres_server.database() as other, psycopg.connect(other) as elsewhere:
            assert elsewhere.execute("SELECT to_regclass('mine')").fetchone() == (None,)


def test_what_keeps_us_out_is_told(postgres_server: PostgresServer, tmp_path: Path) -> None:
    assert "correct user and password" in complaint(postgres_server.url(password="wr0ng"))
    assert "createdb" in complaint(postgres_server.url("nowhere"))
    assert "start the server" in complaint(postgres_server.url(host=str(tmp_path)))
    assert "start the server" in complaint(f"postgresql://me:{PASSWORD}@127.0.0.1:1/x")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hush/word@host/db",
        "postgresql://me:hush%zzword@host/db",
        "postgresql://me:hush@host/db?unheard=of",
        "hush and nonsense",
    ],
)
def test_a_url_that_cannot_be_read_is_not_shown(url: str) -> None:
    with pytest.raises(JournalUnavailable, match="cannot be read; write postgresql://") as raised:
        PostgresConnections(url)
    assert "hush" not in str(raised.value)


def test_a_password_given_in_another_way_is_not_shown_either() -> None:
    url = "postgresql://host:77/db?user=me&password=hush"
    with opened(url) as connections:
        assert connections.place == "postgresql://me@host:77/db"
        assert "hush" not in repr(connections)


def test_where_there_is_no_server_a_borrower_hears_why() -> None:
    script = (
        "from holdfast.contract.journal import JournalUnavailable\n"
        "from holdfast.record.postgres.connection import PostgresConnections\n"
        "nowhere = PostgresConnections('postgresql://me:hush@127.0.0.1:1/db', wait_seconds=0.5)\n"
        "try:\n"
        "    with nowhere.borrowed():\n"
        "        pass\n"
        "except JournalUnavailable as problem:\n"
        "    print(problem)\n"
        "nowhere.close()\n"
    )
    argv = [sys.executable, "-c", script]
    asked = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert asked.stdout == (
        "postgresql://me@127.0.0.1:1/db: connection failed: connection to server at"
        ' "127.0.0.1", port 1 failed: Connection refused;'
        " start the server, or correct host and port of the URL\n"
    )
    assert asked.stderr == ""


def test_a_lost_connection_is_replaced_for_the_next_borrower(postgres_url: str) -> None:
    with opened(postgres_url) as connections:
        with (
            pytest.raises(JournalUnavailable, match=r"went away .* start it, then try again"),
            connections.borrowed() as connection,
        ):
            connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        with connections.borrowed() as idle:
            lost = idle.info.backend_pid
        with psycopg.connect(postgres_url, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", (lost,))
        with connections.borrowed() as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_more_borrowers_than_connections_wait_and_hear_it(postgres_url: str) -> None:
    with (
        opened(postgres_url, most=1) as connections,
        connections.borrowed(),
        pytest.raises(JournalUnavailable, match="all connections are in use"),
        connections.borrowed(),
    ):
        pass
    with pytest.raises(JournalUnavailable, match="the store is closed"), connections.borrowed():
        pass


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("53100", "disk is full; nothing was written: make room"),
        ("25006", "it can only be read .* name the server that can be written"),
        ("42501", "the user lacks a privilege .* grant it"),
        ("57P01", "the server went away"),
        ("XX001", "on purpose"),
    ],
)
def test_what_the_server_refuses_is_told(postgres_url: str, code: str, said: str) -> None:
    with (
        opened(postgres_url) as connections,
        pytest.raises(JournalUnavailable, match=said),
        connections.borrowed() as connection,
    ):
        connection.execute(
            sql.SQL("DO $$ BEGIN RAISE 'on purpose' USING ERRCODE = {}; END $$").format(
                sql.Literal(code)
            )
        )


def test_tables_are_made_once_by_many_that_begin_together(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = ("CREATE TABLE holdfast.one (x integer)", "ALTER TABLE holdfast.one ADD y integer")

    def begin(_number: int) -> None:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            migrate(connection)

    monkeypatch.setattr(schema, "MIGRATIONS", steps[:1])
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(begin, range(8)))
    monkeypatch.setattr(schema, "MIGRATIONS", steps)
    begin(0)
    begin(0)
    with psycopg.connect(postgres_url) as connection:
        connection.execute("SELECT x, y FROM holdfast.one")
        assert connection.execute("SELECT version FROM holdfast.schema").fetchall() == [(2,)]
    monkeypatch.setattr(schema, "MIGRATIONS", steps[:1])
    with pytest.raises(JournalUnavailable, match=r"written by a newer holdfast .* update holdfast"):
        begin(0)


def test_a_step_that_fails_leaves_no_table(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "MIGRATIONS", ("CREATE TABLE holdfast.one (x integer); nonsense",))
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.SyntaxError):
            migrate(connection)
        assert connection.execute("SELECT to_regclass('holdfast.schema')").fetchone() == (None,)


@pytest.mark.measured
def test_without_its_client_the_door_says_what_to_install() -> None:
    script = (
        "import sys\n"
        "sys.modules['psycopg'] = None\n"
        "import holdfast.app.holdfast\n"
        "from holdfast.contract.journal import JournalUnavailable\n"
        "from holdfast.record.postgres.door import load\n"
        "try:\n"
        "    load('connection')\n"
        "except JournalUnavailable as problem:\n"
        "    print(problem)\n"
    )
    asked = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "pip install 'holdfast[postgres]'" in asked.stdout, asked.stderr


def test_with_its_client_the_door_opens() -> None:
    assert load("connection").PostgresConnections is PostgresConnections


OWNER = """
from postgres_server import running_server
with running_server() as server:
    print(server.folder, flush=True)
    input()
"""


def test_the_server_does_not_outlive_a_killed_test_run() -> None:
    argv = [sys.executable, "-c", OWNER]
    environment = this_tree()
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as owner:
        assert owner.stdout is not None
        server = PostgresServer(Path(owner.stdout.readline().strip()))
        assert server.is_up()
        owner.send_signal(signal.SIGKILL)
    until = time.monotonic() + 10
    while server.folder.exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    assert not server.is_up()


def test_a_server_that_was_stopped_leaves_nothing() -> None:
    with running_server() as server:
        assert server.is_up()
    assert not server.folder.exists()


def test_connections_that_are_lost_are_replaced_at_once(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there were: whoever borrows one does not rest after each that does not work."""
    rests: list[float] = []
    monkeypatch.setattr("psycopg_pool.pool.sleep", rests.append)
    with opened(postgres_url) as connections, ExitStack() as stack:
        borrowed = [stack.enter_context(connections.borrowed()) for _ in range(4)]
        pids = [connection.info.backend_pid for connection in borrowed]
        stack.close()
        with psycopg.connect(postgres_url) as other:
            other.execute("SELECT pg_terminate_backend(pid, 5000) FROM unnest(%s) AS pid", (pids,))
        with connections.borrowed() as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    assert sum(rests) == 0


def test_a_server_that_was_away_for_long_is_found_as_soon_as_it_is_back(
    postgres_server: PostgresServer,
) -> None:
    """Whoever asked in vain meanwhile makes nobody wait."""
    with (
        TemporaryDirectory(prefix="hf-") as folder,
        opened(postgres_server.url(host=folder)) as way,
    ):
        for _ in range(3):  # longer than a first rest of a pool, shorter than the second
            with pytest.raises(JournalUnavailable, match="start the server"), way.borrowed():
                pass
        Path(folder, _SOCKET).symlink_to(postgres_server.folder / _SOCKET)
        with way.borrowed() as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
