"""A run on screens of eighty and forty columns; what signals and closed terminals do to it."""

import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import termios
import time
from pathlib import Path

import pytest
from agent_scripts import PATIENCE, Typed, asks, at_a_terminal, says, script
from command import HOLDFAST, start
from terminal_screen import TerminalScreen

ASKS = ("--set", "profile.code.rules=[{permission='write',pattern='*',action='ask'}]")
SMALL = {"COLUMNS": "40", "LINES": "20"}
WRITE = asks("write", path="a.txt", content="".join(f"line {at} of it\n" for at in range(60)))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.mark.measured
def test_a_long_change_is_folded_so_that_its_end_and_the_question_are_seen(
    home: Path, work: Path
) -> None:
    seen = at_a_terminal(
        *("run", "x", "--workspace", str(work), *ASKS),
        *("--model", script(work.parent, WRITE, says("Done."))),
        home=home,
        typed=[Typed("[y/N]", "w\n"), Typed("[y/N]", "y\n")],
        variables=SMALL,
    )
    assert seen.status == 0
    first, _, rest = seen.shown.partition("[y/N] ")
    screen = TerminalScreen(40, 20).write(first).seen
    assert screen[-1] == "Run it?"
    for part in (
        "* write a.txt",
        "  +line 0 of it",
        "  +line 59 of it",
        "  w = show all of it first",
    ):
        assert part in screen
    assert any(row.startswith("  … ") and "more lines; w shows all" in row for row in screen)
    assert not any("content" in row or "line 30 of" in row for row in screen)
    whole, _, after = rest.partition("[y/N] ")
    rows = TerminalScreen(40, 20).write(whole).lines
    assert [row for row in rows if "+line" in row] == [f"  +line {at} of it" for at in range(60)]
    assert "+line" not in after  # what was shown is not shown again


def test_no_word_is_broken_at_forty_columns(home: Path, work: Path) -> None:
    thought = "deliberating about everything " * 9
    seen = at_a_terminal(
        *("run", "x", "--workspace", str(work), *ASKS),
        *("--model", script(work.parent, {"reasoning": thought, **WRITE}, says(thought))),
        home=home,
        typed=[Typed("[y/N]", "n: please leave that file alone entirely\n")],
        variables=SMALL,
    )
    assert seen.status == 0
    rows = TerminalScreen(40, 20).write(seen.shown).lines
    words = {word for row in rows for word in row.split()}
    assert {"deliberating", "everything", "once,", "session,", "project"} <= words
    broken = {"deliberat", "delib", "everyt", "every", "sess", "proj"} & words
    assert not broken


@pytest.mark.measured
def test_a_calls_time_is_its_own(home: Path, work: Path) -> None:
    slow = asks("bash", command="sleep 1.2; echo slow")["calls"]
    quick = asks("bash", command="echo $RANDOM quick")["calls"]
    seen = at_a_terminal(
        *("run", "x", "--workspace", str(work), "--set", "policy.doubts='ask'"),
        *("--model", script(work.parent, {"calls": [*slow, *quick]}, says("Done."))),
        home=home,
        typed=[Typed("[y/N]", "y\n")],
    )
    assert seen.status == 0
    rows = TerminalScreen(120, 50).write(seen.shown).lines
    times = [
        float(row.split(" in ")[1].split()[0]) for row in rows if row.startswith("  exit code")
    ]
    assert len(times) == 2
    assert times[0] >= 1.2
    assert times[1] < 1.0  # although it waited for a person, and for the other one


def test_what_ctrl_c_says_begins_a_line_of_its_own(home: Path, work: Path) -> None:
    seen = at_a_terminal(
        *("run", "x", "--workspace", str(work), *ASKS),
        *("--model", script(work.parent, WRITE, says("On."))),
        home=home,
        typed=[Typed("[y/N]", "\x03")],
    )
    rows = TerminalScreen(120, 50).write(seen.shown).lines
    assert any(row.startswith("holdfast: stopping the call") for row in rows)


@pytest.mark.measured
def test_a_question_is_shown_again_when_the_program_goes_on(home: Path, work: Path) -> None:
    question = {"question": "Which colour?", "options": [{"label": "Red"}]}
    model = script(work.parent, WRITE, asks("question", questions=[question]), says("Done."))
    stopped = (signal.SIGSTOP, signal.SIGCONT)
    seen = at_a_terminal(
        *("run", "x", "--workspace", str(work), "--model", model, *ASKS),
        home=home,
        typed=[
            Typed("[y/N]", signals=stopped),
            Typed("y = once", "y\n"),
            Typed("> ", signals=stopped),
            Typed("Which colour?", "1\n"),
        ],
    )
    assert seen.status == 0
    assert (work / "a.txt").exists()


def test_a_failure_is_told_once(home: Path, work: Path) -> None:
    trouble = {"error": {"trouble": "authentication", "told": "no such key"}}
    words = ("run", "x", "--workspace", str(work), "--model", script(work.parent, trouble))
    seen = at_a_terminal(*words, home=home)
    assert (seen.status, seen.shown.count("no such key")) == (1, 1)
    assert "the run failed; go on with: holdfast resume ses_" in seen.shown
    quiet = start(*words, "--quiet", home=home)
    assert (quiet.status, quiet.err.count("no such key")) == (1, 1)  # there it is the only one


def _started(home: Path, work: Path, *words: str) -> tuple["subprocess.Popen[bytes]", int]:
    """A run at a terminal whose call has begun; the other side of the terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(HOLDFAST), "run", "x", "--workspace", str(work), *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "HOLDFAST_HOME": str(home), "TERM": "xterm"},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    return process, ours


def _read_until(ours: int, text: str) -> None:
    shown = ""
    until = time.monotonic() + PATIENCE
    while text not in shown and time.monotonic() < until:
        if select.select([ours], [], [], 0.1)[0]:
            shown += os.read(ours, 65_536).decode(errors="replace")
    assert text in shown


@pytest.mark.parametrize(
    ("turn", "seen"),
    [
        (asks("bash", command="echo begun; sleep 30"), "bash: begun"),
        (WRITE, "[y/N]"),
    ],
)
@pytest.mark.parametrize("view", [pytest.param((), marks=pytest.mark.measured), ("--json",)])
def test_a_terminal_that_is_closed_stops_the_run_in_order(
    turn: dict[str, object], seen: str, view: tuple[str, ...], home: Path, work: Path
) -> None:
    model = script(work.parent, turn, says("No."))
    process, ours = _started(home, work, "--model", model, *ASKS, *view)
    try:
        _read_until(ours, "begun" if view and "begun" in seen else seen)
    finally:
        os.close(ours)
    assert process.wait(timeout=PATIENCE) == 130
    (one,) = json.loads(start("sessions", "--json", home=home).out)["sessions"]
    assert (one["runner"], one["left"], one["open_calls"]) == ("nobody", False, 0)
    told = start("sessions", "events", one["id"], "--json", home=home).out
    events = [json.loads(line) for line in told.splitlines()]
    assert [event["type"] for event in events].count("user.interrupt") == 1
    settled = [event for event in events if event["type"] == "call.settled"]
    assert (len(settled), settled[0]["envelope"]["ok"]) == (1, False)
    assert not any(
        event["type"] == "model.requested" for event in events[events.index(settled[0]) :]
    )


def test_a_program_that_is_not_to_hear_of_closed_terminals_does_not(home: Path, work: Path) -> None:
    command = "echo begun; until test -e more; do sleep 0.05; done"
    model = script(work.parent, asks("bash", command=command), says("Done."))
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # what nohup does
    try:
        process, ours = _started(home, work, "--model", model)
    finally:
        signal.signal(signal.SIGHUP, before)
    try:
        _read_until(ours, "bash: begun")
    finally:
        os.close(ours)
    (work / "more").touch()
    assert process.wait(timeout=PATIENCE) == 0
