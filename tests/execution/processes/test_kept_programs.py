"""Programs that last as long as we do: ended in order, killed if they do not, gone when we are."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.execution.processes.kept_programs import (
    KeptProgram,
    as_no_root,
    free_ports,
    run_to_its_end,
)

TELLS = "trap 'echo ended; exit 0' TERM; echo $$ > pid; while :; do sleep 0.02; done"
DEAF = "trap '' TERM; echo $$ > pid; while :; do sleep 0.02; done"
PATIENCE = 10.0


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def started(folder: Path) -> int:
    """Wait until the program said which process it is."""
    file = folder / "pid"
    until(lambda: file.exists() and file.read_text("ascii").strip() != "")
    return int(file.read_text("ascii"))


def is_there(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text("ascii").rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_one_that_is_ended_says_its_goodbyes(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = KeptProgram(["/bin/sh", "-c", TELLS], log, {})
    process = started(tmp_path)
    assert not program.has_ended
    assert program.end(PATIENCE)
    assert program.has_ended
    assert not is_there(process)
    assert log.read_text("utf-8") == "ended\n"
    assert log.stat().st_mode & 0o777 == 0o600
    assert program.end(PATIENCE)


def test_one_that_does_not_end_is_killed(tmp_path: Path) -> None:
    program = KeptProgram(["/bin/sh", "-c", DEAF], tmp_path / "log", {})
    process = started(tmp_path)
    assert not program.end(0.2)
    assert not is_there(process)


def test_one_that_ends_by_itself_is_noticed_and_told_what_it_needs(tmp_path: Path) -> None:
    argv = ["/bin/sh", "-c", 'echo "$MORE"']
    program = KeptProgram(argv, tmp_path / "log", {"MORE": "told"})
    until(lambda: program.has_ended)
    assert (tmp_path / "log").read_text("utf-8") == "told\n"
    assert program.end(PATIENCE)


def test_it_ends_when_whoever_began_it_is_killed(tmp_path: Path) -> None:
    text = (
        "import sys, time; from pathlib import Path;"
        "from holdfast.execution.processes.kept_programs import KeptProgram;"
        f"one = KeptProgram(['/bin/sh', '-c', {TELLS!r}], Path({str(tmp_path / 'log')!r}), {{}});"
        "time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", text]) as parent:
        process = started(tmp_path)
        parent.send_signal(signal.SIGKILL)
    until(lambda: not is_there(process))


def test_what_goes_wrong_is_told() -> None:
    assert run_to_its_end(["/bin/sh", "-c", "true"], PATIENCE) is None
    assert run_to_its_end(["/bin/sh", "-c", "echo why >&2; exit 3"], PATIENCE) == "why"
    assert "timed out" in (run_to_its_end(["/bin/sh", "-c", "sleep 9"], 0.05) or "")
    assert "no-such" in (run_to_its_end(["/no-such"], PATIENCE) or "")


def test_who_is_no_root_stays_who_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert as_no_root(["one", "two"]) == ("one", "two")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert as_no_root(["one", "two"])[-2:] == ("one", "two")
    assert "--user" in as_no_root(["one"])
    monkeypatch.setenv("PATH", "/nowhere")
    assert as_no_root(["one"]) == ("one",)


def test_free_ports_can_be_listened_at() -> None:
    one, other = free_ports(2)
    assert one != other
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", one))
