"""Workspaces that travel, as they are used: `holdfast run` and workers with homes of their own."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest
from agent_scripts import asks, lines_of, says, script
from command import HOLDFAST, Answered
from nats_server import running_nats
from postgres_server import running_server

PATIENCE = 15.0
CONFIG = """
[engine]
kind = "cluster"
look_seconds = 0.2
lease_seconds = 4
heartbeat_seconds = 1
[store]
kind = "postgres"
url = "{url}"
[cluster]
servers = [{servers}]
workspaces = "carried"
"""


class Machines:
    """Homes that share a store, a NATS and a key, and nothing else."""

    def __init__(self, folder: Path, config: str) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.work.mkdir()
        self._config = config
        self.home("one")

    def home(self, name: str) -> Path:
        home = self.folder / name
        if not home.exists():
            home.mkdir(mode=0o700)
            (home / "config.toml").write_text(self._config, "utf-8")
            key = self.folder / "one" / "state" / "journal.key"
            if key.exists():
                (home / "state").mkdir(mode=0o700)
                (home / "state" / "journal.key").write_bytes(key.read_bytes())
                (home / "state" / "journal.key").chmod(0o600)
        return home

    def started(self, name: str, *words: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [str(HOLDFAST), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.home(name),
            env={**os.environ, "HOLDFAST_HOME": str(self.home(name))},
        )

    def __call__(self, name: str, *words: str) -> Answered:
        with self.started(name, *words) as process:
            out, err = process.communicate(timeout=PATIENCE)
        return Answered(process.returncode, out, err)

    def copy(self, name: str, session: str) -> Path:
        return self.folder / f"{name}-workspaces" / "default" / session / "files"

    def begun(self, *turns: dict[str, Any]) -> str:
        """A session that was run once, by a person, whose folder nobody else sees from then on."""
        model = script(self.folder, *turns)
        words = ("run", "x", "--json", "--workspace", str(self.work), "--model", model)
        answer = self("one", *words)
        assert answer.status == 0, answer.err
        self.work.rename(self.folder / "hidden")
        return str(lines_of(answer)[-1]["session_id"])

    def goes_on(self, name: str, session: str, *turns: dict[str, Any]) -> None:
        """Somebody says something, and a worker of that machine runs it."""
        script(self.folder, *turns)
        assert self("one", "sessions", "send", session, "More.").status == 0
        self.wakes(name, session)

    def wakes(self, name: str, session: str) -> None:
        with self.started(name, "worker", "--json") as worker:  # it hears of that by itself
            assert worker.stdout is not None
            end = json.loads(worker.stdout.readline())
            worker.send_signal(signal.SIGTERM)
            _out, err = worker.communicate(timeout=PATIENCE)
        assert (end["session_id"], end["ended"]) == (session, "final_response"), err


@pytest.fixture
def machines(tmp_path: Path) -> Generator[Machines]:
    with running_server() as server, server.database() as url, running_nats() as nats:
        yield Machines(tmp_path, CONFIG.format(url=url, servers=_listed(nats.urls)))


def _listed(urls: Sequence[str]) -> str:
    return ", ".join(map(json.dumps, urls))


@pytest.mark.timeout(120)
def test_a_session_goes_on_with_its_files_on_whatever_machine_and_after_a_kill(
    machines: Machines,
) -> None:
    session = machines.begun(asks("bash", command="echo one > file"), says("Done."))
    machines.goes_on(
        "two", session, asks("bash", command="cat file; echo two > file"), says("Done.")
    )
    assert (machines.copy("two", session) / "file").read_text() == "two\n"
    assert (machines.folder / "hidden" / "file").read_text() == "one\n"
    script(
        machines.folder,
        asks("bash", command="cat file; echo lost > file"),
        {"text": "late", "seconds": 60},
    )
    assert machines("one", "sessions", "send", session, "More.").status == 0
    with machines.started("three", "worker") as killed:
        _wait_for(machines.copy("three", session) / "file", "lost\n")
        killed.send_signal(signal.SIGKILL)
        killed.communicate(timeout=PATIENCE)
    script(machines.folder, asks("bash", command="cat file; pwd"), says("I looked."))
    machines.wakes("two", session)
    events = lines_of(machines("one", "sessions", "events", session, "--json"))
    assert [one["type"] for one in events].count("workspace.lost") == 1
    (*_, answer) = (one["envelope"] for one in events if one["type"] == "call.settled")
    assert answer["result"]["stdout"] == f"two\n{machines.copy('two', session)}\n"
    assert machines("one", "audit", "verify").status == 0


@pytest.mark.timeout(60)
def test_a_person_goes_on_where_the_folder_that_it_was_begun_in_is_not(machines: Machines) -> None:
    session = machines.begun(asks("bash", command="echo one > file"), says("Done."))
    script(machines.folder, asks("bash", command="cat file; pwd"), says("I looked."))
    answer = machines("two", "resume", session, "Look.", "--json")
    assert answer.status == 0, answer.err
    told = [one["event"] for one in lines_of(answer) if one["kind"] == "event"]
    (envelope,) = (one["envelope"] for one in told if one["type"] == "call.settled")
    assert envelope["result"]["stdout"] == f"one\n{machines.copy('two', session)}\n"
    elsewhere = machines("two", "resume", session, "--set", "cluster.workspaces=shared")
    assert (elsewhere.status, "is no directory any more" in elsewhere.err) == (2, True)


def _wait_for(file: Path, content: str) -> None:
    until = time.monotonic() + PATIENCE
    while not (file.exists() and file.read_text("utf-8") == content):
        assert time.monotonic() < until
        time.sleep(0.02)
