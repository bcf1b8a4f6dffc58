"""`holdfast worker`: what is due is run, its ends are told, and whoever ends it loses nothing."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from agent_scripts import asks, lines_of, says, script
from command import HOLDFAST, Cli

PATIENCE = 15.0


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def begun(cli: Cli, work: Path, *turns: dict[str, Any]) -> str:
    """A session of an agent that rests; its model plays other turns from here on."""
    model = script(work.parent, says("Hello."))
    answer = cli("run", "x", "--json", "--workspace", str(work), "--model", model)
    script(work.parent, *turns)
    return str(lines_of(answer)[-1]["session_id"])


@contextmanager
def worker(home: Path, *words: str) -> "Generator[subprocess.Popen[str]]":
    argv = [str(HOLDFAST), "worker", "--json", "--set", "engine.look_seconds=0.05", *words]
    with subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def said_in(process: "subprocess.Popen[str]", words: str) -> None:
    """Wait until it remarks this."""
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return
    raise AssertionError(f"it ended, and never said {words!r}")


def wait_until(cli: Cli, session: str, seen: str) -> None:
    """Wait until the session shows this."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if seen in cli("sessions", "show", session, "--json").out:
            return
        time.sleep(0.05)
    raise AssertionError(f"{seen} is never shown")


def test_what_is_due_is_run_once_and_told(cli: Cli, work: Path, tool_file: Path) -> None:
    session = begun(cli, work, asks("wipe", path="x"))
    idle = cli("worker", "--once")
    assert (idle.status, idle.out, "nothing is due" in idle.err) == (0, "", True)
    cli("sessions", "send", session, "Wipe it.")
    tools = ("--from", str(tool_file))
    (end,) = lines_of(cli("worker", "--once", "--json", *tools))
    assert (end["session_id"], end["ended"]) == (session, "requires_action")
    (question,) = json.loads(cli("sessions", "questions", "--json").out)["questions"]
    cli("sessions", "answer", session, question["approval_id"], "--allow")
    script(work.parent, says("Wiped it.\nAll of it."))
    answer = cli("worker", "--once", *tools)
    assert answer.out == f"{session}  final_response  Wiped it. All of it.\n"
    assert answer.status == 0


def test_a_session_of_another_project_is_run_under_the_rules_of_its_own(
    cli: Cli, work: Path, tmp_path: Path
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for project, other in ((here, work), (work, here)):
        (project / ".holdfast").mkdir()
        rule = f'permission = "fs.read"\npattern = "{project.name}.txt"\naction = "deny"\n'
        (project / ".holdfast" / "policy.toml").write_text(f"[[rule]]\n{rule}", "utf-8")
        (work / f"{other.name}.txt").write_text(f"of {other.name}", "utf-8")
    turns = [asks("read", path=f"{one}.txt") for one in ("here", "work")]
    session = begun(cli, work, *turns, says("One of them."))
    cli("sessions", "send", session, "Read both.")
    answer = cli("worker", "--once", "--workspace", str(here))
    assert answer.out == f"{session}  final_response  One of them.\n", answer
    shown = cli("sessions", "show", session, "--json").out
    assert "of here" in shown
    assert "of work" not in shown


def test_another_project_that_cannot_be_opened_keeps_nobody_else_from_running(
    cli: Cli, work: Path, tmp_path: Path
) -> None:
    (work / ".git").mkdir()
    left = begun(cli, work, says("Never."))
    here = tmp_path / "here"
    here.mkdir()
    session = begun(cli, here, says("Here I am."))
    for one in (left, session):
        cli("sessions", "send", one, "More.")
    (work / ".holdfast").mkdir()
    (work / ".holdfast" / "config.toml").write_text("[tools]\nfilez = []\n", "utf-8")
    answer = cli("worker", "--once", "--workspace", str(here))
    assert answer.out == f"{session}  final_response  Here I am.\n", answer
    assert f"session {left} is not run here" in answer.err
    assert "filez" in answer.err


def test_a_session_whose_place_is_gone_is_left_alone_and_that_is_said(cli: Cli, work: Path) -> None:
    session = begun(cli, work, says("Never."))
    cli("sessions", "send", session, "More.")
    work.rmdir()
    answer = cli("worker", "--once")
    assert f"session {session} is not run here" in answer.err
    assert "which is no directory any more" in answer.err


def test_a_run_that_fails_is_told_and_so_is_what_cannot_be_run_here(cli: Cli, work: Path) -> None:
    session = begun(cli, work, says("", error={"trouble": "authentication", "told": "who?"}))
    cli("sessions", "send", session, "More.")
    failed = cli("worker", "--once", "--json")
    assert failed.status == 1
    assert lines_of(failed)[0]["problem"] == "who?"
    (work.parent / "turns.json").unlink()
    cli("sessions", "send", session, "More.")
    left = cli("worker", "--once", "--json")
    assert (left.out, left.err.count(f"session {session} is not run here")) == ("", 1)
    nowhere = cli("worker", "--once", "--set", "store.kind=none")
    assert nowhere.status == 2


@pytest.mark.measured
def test_whoever_is_asked_to_end_finishes_what_runs(cli: Cli, work: Path, home: Path) -> None:
    session = begun(cli, work, says("Took its time.", seconds=1.0))
    with worker(home) as process:
        said_in(process, "running what is due")
        cli("sessions", "send", session, "Take your time.")
        wait_until(cli, session, '"status": "running"')
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    (end,) = map(json.loads, out.splitlines())
    assert (end["ended"], end["response"]) == ("final_response", "Took its time.")


@pytest.mark.measured
def test_whoever_takes_too_long_to_end_stops_and_the_next_one_goes_on(
    cli: Cli, work: Path, home: Path
) -> None:
    session = begun(cli, work, asks("todo", todos=[]), says("Never said.", seconds=60.0))
    with worker(home, "--drain", "0.5s") as process:
        said_in(process, "running what is due")
        cli("sessions", "send", session, "Take your time.")
        wait_until(cli, session, "output-available")
        process.send_signal(signal.SIGTERM)
        said_in(process, "what runs is finished")
        said_in(process, "stopping what runs")
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    script(work.parent, says("Here I am."))
    (end,) = lines_of(cli("worker", "--once", "--json"))
    assert (end["session_id"], end["response"]) == (session, "Here I am.")
    wrong = cli("worker", "--drain", "soon")
    assert (wrong.status, "--drain" in wrong.err) == (2, True)


@pytest.mark.measured
def test_whoever_is_asked_twice_stops_it_and_the_next_one_goes_on(
    cli: Cli, work: Path, home: Path
) -> None:
    session = begun(cli, work, asks("todo", todos=[]), says("Never said.", seconds=60.0))
    with worker(home) as process:
        said_in(process, "running what is due")
        cli("sessions", "send", session, "Take your time.")
        wait_until(cli, session, "output-available")
        process.send_signal(signal.SIGINT)
        said_in(process, "what runs is finished")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    script(work.parent, says("Here I am."))
    (end,) = lines_of(cli("worker", "--once", "--json"))
    assert (end["session_id"], end["response"]) == (session, "Here I am.")
    nothing = cli("worker", "--once", "--json")
    assert nothing.out == ""
