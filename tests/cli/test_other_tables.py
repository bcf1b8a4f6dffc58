"""A store whose tables are those of another version: who may go on, and what is told to whom."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import psycopg
import pytest
from agent_scripts import says, script
from command import Cli
from newer_holdfast import newer_holdfast
from postgres_server import PostgresServer, running_server

from holdfast.record.postgres.schema import MIGRATIONS

NEWER = len(MIGRATIONS) + 1
_WORKER = """
CREATE ROLE worker LOGIN PASSWORD 'x';
GRANT USAGE ON SCHEMA holdfast TO worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA holdfast TO worker;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA holdfast TO worker;
"""


@pytest.fixture(scope="module")
def postgres() -> Generator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.mark.timeout(60)
def test_who_may_not_change_the_tables_is_told_who_does_and_who_is_older_is_told_to_update(
    cli: Cli, home: Path, tmp_path: Path, postgres: PostgresServer
) -> None:
    newer = newer_holdfast(tmp_path / "newer")["PYTHONPATH"]
    name = "shop"
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE shop")
    owner = postgres.url(name)
    worker = f"postgresql://worker:x@/{name}?host={postgres.folder}"
    here = ("--set", "store.kind=postgres", "--set", f"store.url={owner}")

    def said_by_a_newer_one(url: str, *words: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", *words],
            env={
                **os.environ,
                "PYTHONPATH": newer,
                "HOLDFAST_HOME": str(home),
                "HOLDFAST_STORE__KIND": "postgres",
                "HOLDFAST_STORE__URL": url,
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    assert cli("sessions", *here).status == 0
    _is_told_of_another_key(cli, home, tmp_path, here)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(_WORKER.encode())
    for words in (("sessions",), ("worker", "--once")):
        status, _, err = said_by_a_newer_one(worker, *words)
        assert (status, "this user does not own them; have their owner" in err) == (1, True), err
        assert "ExceptionGroup" not in err
    checks = json.loads(said_by_a_newer_one(worker, "doctor", "--json")[1])["checks"]
    (store,) = [one for one in checks if one["name"] == "store"]
    assert (store["status"], "holdfast sessions" in store["next_step"]) == ("FAIL", True)
    assert said_by_a_newer_one(owner, "sessions")[0] == 0
    assert said_by_a_newer_one(worker, "sessions")[0] == 0
    told = f"written by a newer holdfast (version {NEWER} of its tables"
    for words in (("sessions",), ("worker", "--once")):
        older = cli(*words, *here)
        assert (older.status, told in older.err, "update holdfast" in older.err) == (1, True, True)


def _is_told_of_another_key(cli: Cli, home: Path, folder: Path, here: tuple[str, ...]) -> None:
    """A machine that signs with another key than those that wrote before."""

    def of_the_key() -> tuple[str, str]:
        checks = json.loads(cli("doctor", "--json", *here).out)["checks"]
        (found,) = [one for one in checks if one["name"] == "journal key"]
        return found["status"], found["detail"]

    assert of_the_key()[0] == "OK"
    model = script(folder, says("Hello."))
    assert cli("run", "x", "--model", model, *here).status == 0
    assert of_the_key()[0] == "OK"
    key = home / "state" / "journal.key"
    before = key.read_bytes()
    key.unlink()
    status, said = of_the_key()
    assert (status, "is missing, and sessions are kept" in said) == ("FAIL", True), said
    key.write_bytes(b"k" * 32)
    status, said = of_the_key()
    assert (status, "is not the one that signed" in said) == ("FAIL", True), said
    key.write_bytes(before)
    assert of_the_key()[0] == "OK"
