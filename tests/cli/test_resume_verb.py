"""`holdfast resume`: a session goes on as it was, where it stopped, or says why it does not."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from agent_scripts import asks, lines_of, says, script
from command import HOLDFAST, Cli


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def _run(cli: Cli, work: Path, *words: str) -> str:
    """Run an agent; gives its session."""
    answer = cli("run", "x", "--json", "--workspace", str(work), *words)
    return str(lines_of(answer)[-1]["session_id"])


@pytest.mark.parametrize(("word", "ok"), [("--allow", True), ("--deny", False)])
def test_a_question_that_waited_is_answered_elsewhere_and_the_run_goes_on(
    word: str, ok: bool, cli: Cli, work: Path, tool_file: Path
) -> None:
    tools = ("--from", str(tool_file))
    model = script(work.parent, asks("wipe", path="x"))
    answer = cli("run", "x", "--later", "--workspace", str(work), "--model", model, *tools)
    assert answer.status == 4
    assert "  asks: " in answer.err
    (question,) = json.loads(cli("sessions", "questions", "--json").out)["questions"]
    session = question["session_id"]
    line = f"holdfast sessions answer {session} {question['approval_id']} --allow (or --deny)"
    assert f"answer with: {line}; then: holdfast resume {session}" in answer.err
    shown = cli("sessions", "show", session).out
    assert shown.count(question["approval_id"]) == 1
    again = script(work.parent, says("Went on."), name="again.json")
    resume = ("resume", session, "--model", again, *tools)
    waits = cli(*resume)
    assert (waits.status, f"questions of session {session} are open" in waits.err) == (4, True)
    said = cli("sessions", "answer", session, question["approval_id"], word)
    assert (said.status, f"with holdfast resume {session}." in said.out) == (0, True)
    done = cli(*resume, "--json")
    told = lines_of(done)
    settled = [one["event"] for one in told if one.get("event", {}).get("type") == "call.settled"]
    assert (done.status, told[-1]["response"]) == (0, "Went on.")
    assert sum(json.dumps(one).count("wiped x") for one in settled) == int(ok)


def test_a_call_from_before_is_named_when_it_ends(cli: Cli, work: Path, tool_file: Path) -> None:
    tools = ("--from", str(tool_file))
    model = script(work.parent, asks("wipe", path="x"))
    cli("run", "x", "--later", "--workspace", str(work), "--model", model, *tools)
    (question,) = json.loads(cli("sessions", "questions", "--json").out)["questions"]
    session = question["session_id"]
    cli("sessions", "answer", session, question["approval_id"], "--allow")
    again = script(work.parent, says("Went on."), name="again.json")
    shown = cli("resume", session, "--model", again, *tools).err
    assert "\n* wipe x\n  done in " in shown


def test_what_was_said_since_the_last_run_is_shown(cli: Cli, work: Path) -> None:
    session = _run(cli, work, "--model", script(work.parent, says("First.")))
    cli("sessions", "send", session, "and now the other one")
    again = script(work.parent, says("Second."), name="again.json")
    answer = cli("resume", session, "--model", again)
    assert (answer.out, answer.err.count("\n> and now the other one\n")) == ("Second.\n", 1)


def test_words_go_on_with_the_last_session_here(
    cli: Cli, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = _run(cli, work, "--model", script(work.parent, says("First.")))
    again = script(work.parent, says("Second."), name="again.json")
    elsewhere = cli("resume", "--model", again)
    assert elsewhere.status == 2
    assert f"the last one elsewhere is {session}, in {work}" in elsewhere.err
    monkeypatch.chdir(work)
    answer = cli("resume", "last", "and", "then?", "--model", again, "--json")
    told = lines_of(answer)
    assert (told[0]["session_id"], told[-1]["response"]) == (session, "Second.")
    said = [one["event"] for one in told if one["kind"] == "event"]
    assert said[0]["message"] == "and then?"
    nothing = cli("resume", "--model", again)
    assert (nothing.status, "nothing is left to do" in nothing.err) == (0, True)


def test_a_run_that_came_to_its_limit_goes_on(cli: Cli, work: Path) -> None:
    (work / "a.txt").write_text("one\n", "utf-8")
    model = script(work.parent, asks("read", path="a.txt"))
    session = _run(cli, work, "--model", model, "--max-rounds", "1")
    again = script(work.parent, says("Now."), name="again.json")
    answer = cli("resume", session, "--model", again)
    assert (answer.status, answer.out) == (0, "Now.\n")


def test_the_agent_and_the_profile_are_the_sessions(cli: Cli, home: Path, work: Path) -> None:
    table = '[agent.reader]\nprofile = "locked"\ninstructions = "You read."\n'
    (home / "config.toml").write_text(table, "utf-8")
    model = script(work.parent, says("First."))
    session = _run(cli, work, "--model", model, "--agent", "reader")
    again = script(work.parent, says("Second."), name="again.json")
    answer = cli("resume", session, "more", "--model", again)
    assert (answer.status, answer.out) == (0, "Second.\n")
    other = cli("resume", session, "more", "--model", again, "--agent", "default")
    assert (other.status, "belongs to the agent 'reader'" in other.err) == (2, True)


def test_another_place_has_to_be_named(cli: Cli, work: Path) -> None:
    session = _run(cli, work, "--model", script(work.parent, says("First.")))
    work.rename(work.parent / "moved")
    again = script(work.parent, says("Second."), name="again.json")
    gone = cli("resume", session, "more", "--model", again)
    assert (gone.status, "--workspace DIR" in gone.err) == (2, True)
    moved = cli(
        "resume", session, "more", "--model", again, "--workspace", str(work.parent / "moved")
    )
    assert (moved.status, moved.out) == (0, "Second.\n")


def test_what_is_no_agents_session_says_so(cli: Cli, tool_file: Path) -> None:
    nothing = cli("resume")
    assert (nothing.status, "there is no session yet" in nothing.err) == (2, True)
    cli("call", "add", "a=1", "--from", str(tool_file))
    (one,) = json.loads(cli("sessions", "list", "--json").out)["sessions"]
    calls = cli("resume", one["id"])
    assert (calls.status, "is not an agent's" in calls.err) == (2, True)
    here = cli("resume")
    assert (here.status, "is not an agent's" in here.err) == (2, True)
    unknown = cli("resume", "ses_none", "--json")
    assert (unknown.status, lines_of(unknown)[-1]["exit"]) == (2, 2)


def test_a_session_that_another_process_runs_is_left_to_it(
    cli: Cli, home: Path, work: Path
) -> None:
    model = script(work.parent, {"seconds": 60, "text": "late"})
    with subprocess.Popen(
        [str(HOLDFAST), "run", "x", "--json", "--workspace", str(work), "--model", model],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
    ) as process:
        assert process.stdout is not None
        session = json.loads(process.stdout.readline())["session_id"]
        while "model.requested" not in process.stdout.readline():
            pass
        answer = cli("resume", session, "--model", model)
        process.terminate()
        process.communicate(timeout=15)
    assert answer.status == 2
    assert f"holdfast sessions watch {session}" in answer.err
    assert process.returncode == 130
