"""`holdfast run`: an agent with a task, its end as an exit code, its way as text or as lines."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from agent_scripts import asks, at_a_terminal, lines_of, says, script
from command import HOLDFAST, Cli, start


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n", "utf-8")
    return folder


def test_the_way_is_beside_and_the_last_words_are_the_answer(cli: Cli, work: Path) -> None:
    model = script(
        work.parent,
        says("Looking.", reasoning="A file is there.", **asks("read", path="a.txt")),
        asks("edit", path="a.txt", old_string="two", new_string="2"),
        {"calls": [], "text": "It is **done**.", "usage": {"input_tokens": 90, "output_tokens": 9}},
    )
    answer = cli("run", "make", "it", "2", "--workspace", str(work), "--model", model)
    assert (answer.status, answer.out) == (0, "It is **done**.\n")
    assert (work / "a.txt").read_text("utf-8") == "one\n2\n"
    for line in ("A file is there.", "Looking.", "* read a.txt", "  -two", "  +2"):
        assert f"\n{line}\n" in answer.err
    assert "turns.json · 3 rounds · 99 tokens · " in answer.err
    assert "\x1b" not in answer.err
    assert "It is" not in answer.err


def test_quiet_is_the_last_words_alone(cli: Cli, work: Path) -> None:
    model = script(work.parent, asks("read", path="a.txt"), says("Read."))
    answer = cli("run", "x", "--quiet", "--workspace", str(work), "--model", model)
    assert (answer.status, answer.out, answer.err) == (0, "Read.\n", "")


def test_json_is_a_line_for_everything_and_the_last_one_is_the_end(cli: Cli, work: Path) -> None:
    turn = asks("read", path="a.txt") | {"usage": {"input_tokens": 7, "cost_micros": 5}}
    model = script(work.parent, turn, says("Read."))
    answer = cli("run", "x", "--json", "--workspace", str(work), "--model", model)
    told = lines_of(answer)
    assert told[0]["kind"] == "begin"
    assert {"kind": "text", "text": "Read."} in told
    assert {one["kind"] for one in told} == {"begin", "event", "call", "text", "end"}
    events = [one["event"]["type"] for one in told if one["kind"] == "event"]
    assert events[0] == "user.message"
    assert {"call.asked", "call.settled", "model.replied", "agent.message"} <= {*events}
    end = told[-1]
    assert end["session_id"] == told[0]["session_id"]
    assert (end["kind"], end["exit"], end["ended"]) == ("end", 0, "final_response")
    assert end["response"] == "Read."
    usage = {"rounds": 2, "input_tokens": 7, "output_tokens": 0, "cached_tokens": 0}
    assert end["usage"] == {**usage, "cost_micros": 5}


@pytest.mark.parametrize("words", [["-"], []])
def test_the_task_may_come_from_standard_input(words: list[str], home: Path, work: Path) -> None:
    model = script(work.parent, says("Heard."))
    given = ("--workspace", str(work), "--model", model, "--json")
    answer = start("run", *words, *given, home=home, stdin="Ärger\n".encode())
    told = [one["event"] for one in lines_of(answer) if one["kind"] == "event"]
    assert (answer.status, told[0]["message"]) == (0, "Ärger")


@pytest.mark.parametrize("dash", [(), ("-",)])
@pytest.mark.parametrize(
    ("stdin", "said"), [(b"more\n", "Explain this\n\nmore"), (b" \n", "Explain this")]
)
def test_what_is_piped_in_stands_behind_the_task(
    stdin: bytes, said: str, dash: tuple[str, ...], home: Path, work: Path
) -> None:
    model = script(work.parent, says("Heard."))
    given = ("--workspace", str(work), "--model", model, "--json")
    answer = start("run", "Explain", "this", *dash, *given, home=home, stdin=stdin)
    told = [one["event"] for one in lines_of(answer) if one["kind"] == "event"]
    assert (answer.status, told[0]["message"]) == (0, said)


@pytest.mark.measured
def test_a_file_as_standard_input_stands_behind_the_task(home: Path, work: Path) -> None:
    model = script(work.parent, says("Heard."))
    with (work / "a.txt").open("rb") as file:
        answer = subprocess.run(
            [str(HOLDFAST), "run", "Sum up", "--json", "--workspace", str(work), "--model", model],
            stdin=file,
            capture_output=True,
            env={**os.environ, "HOLDFAST_HOME": str(home)},
            check=True,
            timeout=15,
        )
    assert json.loads(answer.stdout.splitlines()[1])["event"]["message"] == "Sum up\n\none\ntwo"


@pytest.mark.measured
def test_a_pipe_that_nobody_writes_to_does_not_hold_the_run_up(home: Path, work: Path) -> None:
    model = script(work.parent, says("Heard."))
    reading, writing = os.pipe()
    try:
        answer = subprocess.run(
            [str(HOLDFAST), "run", "x", "--workspace", str(work), "--model", model],
            stdin=reading,
            capture_output=True,
            env={**os.environ, "HOLDFAST_HOME": str(home)},
            check=True,
            timeout=15,
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert answer.stdout == b"Heard.\n"
    assert b"a pipe that says nothing" in answer.stderr


@pytest.mark.parametrize(
    ("stdin", "said"), [(b"", "is empty"), (b"\xff\xfe", "no UTF-8"), (b"x" * 4_194_305, "larger")]
)
def test_standard_input_that_is_no_task_is_an_error(
    stdin: bytes, said: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
    answer = cli("run", "-")
    assert answer.status == 2
    assert f"standard input {said}" in answer.err or said in answer.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("x", "--model", "nope"), "there is no model 'nope'"),
        (("x", "--model", "scripted:none.toml"), "none.toml cannot be read"),
        (("x", "--model", "telepathy:x"), "there is no kind of model 'telepathy'"),
        (("x",), "local:smollm2 (on this machine) or scripted:FILE"),
        (("x", "--agent", "nope"), "there is no agent 'nope'"),
        (("x", "--headless", "--later"), "give one of them"),
        (("x", "--json", "--quiet"), "give one of them"),
        (
            ("x", "--max-rounds", "0"),
            "--max-rounds/--max-steps: give a number of 1 or more, not '0'",
        ),
        (("x", "--max-rounds", "many"), "give a number of 1 or more, not 'many'"),
        (("x", "--max-cost", "-1"), "--max-cost: give a number above 0, not '-1'"),
        (("x", "--timeout", "soon"), "--timeout: give a number above 0, not 'soon'"),
        (("x", "--workspace", "nowhere"), "there is no such directory"),
        (("x", "--set", "store.kind=none"), "store.kind"),
    ],
)
def test_what_cannot_begin_says_why(words: tuple[str, ...], said: str, cli: Cli) -> None:
    answer = cli("run", *words)
    assert (answer.status, answer.out == "" or "--json" in words) == (2, True)
    assert said in answer.err


def test_without_a_task_somebody_at_a_terminal_is_told(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    answer = cli("run")
    assert (answer.status, 'holdfast run "TASK"' in answer.err) == (2, True)


def test_a_program_that_reads_lines_is_told_in_one_why_there_was_no_run(cli: Cli) -> None:
    answer = cli("run", "x", "--json", "--model", "nope")
    (end,) = lines_of(answer)
    assert (answer.status, end["kind"], end["exit"], end["executed"]) == (2, "end", 2, False)
    assert "there is no model" in end["problem"]


@pytest.mark.req("CLI-RUN-25")
@pytest.mark.parametrize(
    ("words", "turns", "said"),
    [
        (("--max-steps", "1"), [asks("read", path="a.txt")] * 3, "at a limit: 1 round;"),
        (
            ("--max-tokens", "10"),
            [{**asks("read", path="a.txt"), "usage": {"output_tokens": 10}}] * 3,
            "at a limit: it has used 10 of 10 tokens",
        ),
        (
            ("--max-cost", "0.5"),
            [{**asks("read", path="a.txt"), "usage": {"cost_micros": 500_000}}] * 3,
            "cost 0.50 of 0.5",
        ),
        (
            ("--max-seconds", "0.2"),
            [{"seconds": 30, "text": "late"}],
            "it has taken its 0.2 seconds",
        ),
    ],
)
def test_a_run_at_its_limit_is_one_that_a_person_should_review(
    words: tuple[str, ...], turns: list[dict[str, Any]], said: str, cli: Cli, work: Path
) -> None:
    model = script(work.parent, *turns)
    answer = cli("run", "x", *words, "--workspace", str(work), "--model", model)
    assert answer.status == 1
    assert said in answer.err
    assert "a person should review what was done: holdfast sessions show ses_" in answer.err


@pytest.mark.parametrize("view", [(), ("--quiet",), ("--json",)])
def test_a_model_that_says_nothing_fails_the_run_and_it_is_said_what_to_try(
    view: tuple[str, ...], cli: Cli, work: Path
) -> None:
    model = script(work.parent, *[says("")] * 3)
    answer = cli("run", "x", *view, "--workspace", str(work), "--model", model)
    assert answer.status == 1
    assert "the model answered with nothing, three times in a row" in answer.err
    assert "holdfast resume ses_" in answer.err
    assert not view or "--quiet" in view or lines_of(answer)[-1]["exit"] == 1


def test_the_first_line_names_the_models_table_too(cli: Cli, home: Path, work: Path) -> None:
    path = script(work.parent, says("Hello.")).removeprefix("scripted:")
    table = f'[model.mine]\nkind = "scripted"\nfile = "{path}"\nmodel = "theirs"\n'
    (home / "config.toml").write_text(table, "utf-8")
    first = cli("run", "x", "--workspace", str(work)).err.splitlines()[0]
    assert first.endswith(" · mine (theirs)")


def test_a_model_that_fails_is_told_and_fails_the_run(cli: Cli, work: Path) -> None:
    model = script(work.parent, {"error": {"trouble": "authentication", "told": "no such key"}})
    answer = cli("run", "x", "--workspace", str(work), "--model", model)
    assert answer.status == 1
    assert "! model: authentication: no such key" in answer.err
    assert "go on with: holdfast resume ses_" in answer.err


def test_without_a_terminal_nobody_is_asked_and_the_model_goes_on(
    cli: Cli, work: Path, tool_file: Path
) -> None:
    model = script(work.parent, asks("wipe", path="x"), says("It was refused."))
    common = ("run", "x", "--workspace", str(work), "--model", model, "--from", str(tool_file))
    for more in ((), ("--headless",)):
        answer = cli(*common, *more)
        assert (answer.status, answer.out) == (0, "It was refused.\n")
        assert "  rejected" in answer.err
        assert "nobody was there to be asked" in answer.err


@pytest.mark.parametrize(("colour", "value"), [(False, "1"), (True, "")])
def test_no_color_is_respected(colour: bool, value: str, home: Path, work: Path) -> None:
    model = script(work.parent, asks("bash", command="exit 3"), says("**Done.**"))
    seen = at_a_terminal(
        *("run", "x", "--workspace", str(work), "--model", model),
        home=home,
        variables={"NO_COLOR": value},
    )
    assert seen.status == 0
    assert ("\x1b[31m  exit code 3" in seen.shown) is colour
    assert "exit code 3" in seen.shown
    assert "\x1b[1mDone." in seen.shown  # bold is no colour: Markdown looks as it was meant
    assert bool(re.search(r"\x1b\[[0-9;]*[34][0-7]", seen.shown)) is colour


def _begun(home: Path, work: Path, *words: str) -> "subprocess.Popen[str]":
    """A run whose call has begun to work."""
    process = subprocess.Popen(
        [str(HOLDFAST), "run", "x", "--workspace", str(work), *words, "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
    )
    until = time.monotonic() + 15
    while not (work / "begun").exists() and time.monotonic() < until:
        time.sleep(0.02)  # the command is another program's, which tells nobody
    return process


def test_a_signal_to_end_interrupts_the_run_and_loses_nothing(home: Path, work: Path) -> None:
    model = script(work.parent, asks("bash", command="touch begun; sleep 30"), says("No."))
    process = _begun(home, work, "--model", model)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=15)
    end = json.loads(out.splitlines()[-1])
    assert (process.returncode, end["exit"], end["ended"]) == (130, 130, "cancelled")
    events = start("sessions", "events", end["session_id"], "--json", home=home).out
    (stop,) = [json.loads(line) for line in events.splitlines() if '"user.interrupt"' in line]
    assert stop.get("note") is None
    again = script(work.parent, says("Going on."), name="again.json")
    words = ("resume", end["session_id"], "--model", again, "--quiet")
    assert start(*words, home=home).out == "Going on.\n"


@pytest.mark.measured
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("send", "take the other one"), "> take the other one"),
        (("interrupt", "--note", "tests first"), "  interrupted: tests first"),
    ],
)
def test_what_others_say_is_shown_where_it_runs(
    words: tuple[str, ...], shown: str, home: Path, work: Path
) -> None:
    command = "touch begun; until test -e more; do sleep 0.05; done"
    model = script(work.parent, asks("bash", command=command), says("Done."))
    with subprocess.Popen(
        [str(HOLDFAST), "run", "x", "--workspace", str(work), "--model", model],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
    ) as process:
        assert process.stderr is not None
        session = process.stderr.readline().split()[1]
        until = time.monotonic() + 15
        while not (work / "begun").exists() and time.monotonic() < until:
            time.sleep(0.02)  # the command is another program's, which tells nobody
        verb, *rest = words
        assert start("sessions", verb, session, *rest, home=home).status == 0
        (work / "more").touch()
        _, err = process.communicate(timeout=15)
    assert (process.returncode, err.splitlines().count(shown)) == (0, 1)


def test_after_a_kill_the_call_is_told_as_broken_off_and_not_run_again(
    home: Path, work: Path
) -> None:
    model = script(work.parent, asks("bash", command="echo x >> begun; sleep 30"), says("No."))
    process = _begun(home, work, "--model", model)
    process.kill()
    out, _ = process.communicate(timeout=15)
    session = json.loads(out.splitlines()[0])["session_id"]
    again = script(work.parent, says("Going on."), name="again.json")
    answer = start("resume", session, "--model", again, "--json", home=home)
    told = lines_of(answer)
    assert (answer.status, told[-1]["response"]) == (0, "Going on.")
    assert (work / "begun").read_text("utf-8") == "x\n"
    events = start("sessions", "events", session, "--json", home=home).out
    settled = [line for line in events.splitlines() if '"call.settled"' in line]
    assert len(settled) == 1
    assert '"ok":false' in settled[0] or '\\"ok\\":false' in settled[0]
