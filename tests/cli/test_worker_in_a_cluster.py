"""Two workers of a cluster, as commands: one is asked to end while it works, the other goes on."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

import pytest
from agent_scripts import lines_of, says, script
from command import HOLDFAST, Cli
from nats_server import running_nats
from postgres_server import running_server

PATIENCE = 25.0


@pytest.fixture
def cluster(home: Path) -> Generator[None]:
    """The configuration says where it is."""
    with running_server() as postgres, running_nats() as nats, postgres.database() as url:
        text = (
            '[engine]\nkind = "cluster"\n[store]\nkind = "postgres"\n'
            f'url = "{url}"\n[cluster]\nservers = {json.dumps(nats.urls)}\n'
        )
        (home / "config.toml").write_text(text, "utf-8")
        (home / "config.toml").chmod(0o600)
        yield


class Worker(NamedTuple):
    process: "subprocess.Popen[str]"
    address: str

    def ready(self) -> tuple[int, str]:
        """What it answers whoever asks whether it takes what is due."""
        asking = HTTPConnection(self.address, timeout=5)
        asking.request("GET", "/readyz")
        answer = asking.getresponse()
        return answer.status, answer.read().decode()


@contextmanager
def worker(home: Path, *words: str) -> Generator[Worker]:
    argv = [str(HOLDFAST), "worker", "--json", "--health", "0", *words]
    with subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        cwd=home.parent,
    ) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert "answers at " in line, line + process.communicate(timeout=PATIENCE)[1]
            one = Worker(process, line.split("answers at http://")[1].partition("/healthz")[0])
            until(lambda: one.ready()[0] == 200)
            yield one
        finally:
            process.kill()


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def begun(cli: Cli, folder: Path, seconds: float, name: str) -> str:
    """A session that rests, and whose next answer takes so long."""
    model = script(folder, says("Hello."), name=f"{name}.json")
    answer = cli("run", "x", "--json", "--model", model)
    assert answer.status == 0, answer.err
    script(folder, says(f"Done by {name}.", seconds=seconds), name=f"{name}.json")
    return str(lines_of(answer)[-1]["session_id"])


@pytest.mark.measured
@pytest.mark.timeout(120)
@pytest.mark.usefixtures("cluster")
def test_one_that_is_asked_to_end_finishes_what_runs_and_another_has_what_is_new(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    long, new = begun(cli, tmp_path, 4.0, "long"), begun(cli, tmp_path, 0.0, "new")
    with worker(home) as first:
        assert cli("sessions", "send", long, "Take your time.").status == 0
        until(lambda: '"status": "running"' in cli("sessions", "show", long, "--json").out)
        with worker(home) as second:
            first.process.send_signal(signal.SIGTERM)
            until(lambda: first.ready()[0] == 503)
            assert first.ready() == (503, "it ends\n")
            assert cli("sessions", "send", new, "Be quick.").status == 0
            out, err = first.process.communicate(timeout=PATIENCE)
            assert first.process.returncode == 0, err
            until(lambda: "Done by new." in cli("sessions", "show", new, "--json").out)
            second.process.send_signal(signal.SIGTERM)
            other, err = second.process.communicate(timeout=PATIENCE)
            assert second.process.returncode == 0, err
    ran = [[json.loads(line)["session_id"] for line in one.splitlines()] for one in (out, other)]
    assert ran == [[long], [new]]
    assert "Done by long." in cli("sessions", "show", long, "--json").out


@pytest.mark.measured
@pytest.mark.timeout(120)
@pytest.mark.usefixtures("cluster")
def test_what_takes_too_long_for_one_that_ends_is_gone_on_with_by_another(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    long = begun(cli, tmp_path, 60.0, "long")
    with worker(home, "--drain", "0.5s") as first:
        assert cli("sessions", "send", long, "Take your time.").status == 0
        until(lambda: '"status": "running"' in cli("sessions", "show", long, "--json").out)
        script(tmp_path, says("Done by another."), name="long.json")
        with worker(home):
            first.process.send_signal(signal.SIGTERM)
            out, err = first.process.communicate(timeout=PATIENCE)
            assert (first.process.returncode, out) == (0, ""), err
            assert "stopping what runs" in err
            until(lambda: "Done by another." in cli("sessions", "show", long, "--json").out)
    assert cli("audit", "verify").status == 0
