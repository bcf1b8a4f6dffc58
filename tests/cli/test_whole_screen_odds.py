"""The whole screen of a real terminal in odd hours: sizes, ends, strange output, no such screen."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from agent_scripts import asks, at_a_terminal, says, script
from command import start
from person_at_screen import (
    ASKS,
    EDIT,
    LONG,
    AtScreen,
    at_work,
)

AGENTS = """
[model.top]
kind = "scripted"
file = "{0}"

[model.low]
kind = "scripted"
file = "{1}"

[agent.default]
description = "Leads."
model = "top"

[agent.coder]
description = "Codes."
mode = "subagent"
model = "low"
"""
PRINTS = '''
import sys
from holdfast import tool

@tool
def shout() -> str:
    """Print something."""
    print("printed here")
    print("\\x1b[2J and there", file=sys.stderr, flush=True)
    return "shouted"
'''


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\nthree\n", "utf-8")
    return folder


@pytest.mark.measured
def test_the_screen_follows_the_window_down_to_forty_columns(home: Path, work: Path) -> None:
    with at_work(home, work, {**EDIT, "text": "word " * 40}, says("Done.")) as person:
        person.until("yes, once")
        person.resize(40, 20)
        seen = person.until("asks: Tool 'edit'", "y once", "-two")
        assert max(map(len, person.seen.lines)) <= 40
        assert "?????" not in seen
        person.resize(150, 45)
        seen = person.until("yes, once", "profile code")
        assert "?????" not in seen
        person.type("y")
        assert person.end()[0] == 0


@pytest.mark.measured
def test_a_run_that_is_stopped_gives_the_terminal_back_until_it_goes_on(
    home: Path, work: Path
) -> None:
    with at_work(home, work, LONG, says("No.")) as person:
        person.until("  begun")
        person.process.send_signal(signal.SIGTSTP)
        person.wait(lambda: not person.seen.is_other)
        person.wait(lambda: person.settings == person.before)
        person.process.send_signal(signal.SIGCONT)
        person.wait(lambda: person.seen.is_other)
        person.until("  begun", "bash")
        person.process.send_signal(signal.SIGTERM)
        assert person.end()[0] == 130


def test_a_run_that_is_killed_leaves_a_terminal_that_works(home: Path, work: Path) -> None:
    with at_work(home, work, LONG, says("No.")) as person:
        person.until("  begun")
        assert person.settings != person.before
        person.process.send_signal(signal.SIGKILL)
        person.wait(lambda: not person.seen.is_other)
        person.wait(lambda: person.settings == person.before)
        assert {"7", "25"} <= person.seen.modes


@pytest.mark.measured
@pytest.mark.parametrize(("turn", "seen"), [(LONG, "  begun"), (EDIT, "yes, once")])
def test_a_window_that_is_closed_stops_the_run_in_order(
    turn: dict[str, Any], seen: str, home: Path, work: Path
) -> None:
    with at_work(home, work, turn, says("No.")) as person:
        person.until(seen)
        person.close()
        assert person.process.wait(timeout=10) == 130
    (one,) = json.loads(start("sessions", "--json", home=home).out)["sessions"]
    assert (one["runner"], one["left"], one["open_calls"]) == ("nobody", False, 0)


@pytest.mark.measured
def test_a_third_ctrl_c_ends_the_program_and_leaves_the_screen(home: Path, work: Path) -> None:
    stubborn = asks("bash", command="trap '' INT TERM; echo begun; sleep 30; sleep 30")
    with at_work(home, work, stubborn, {"seconds": 30}) as person:
        person.until("  begun")
        person.type("\x03")
        person.until("stopping the call")
        for _ in range(4):
            person.type("\x03")
            person.look(0.2)
        assert person.end()[0] in {-signal.SIGINT, 130}
        assert not person.seen.is_other
        assert person.settings == person.before


@pytest.mark.measured
def test_subagents_are_seen_beside_and_named_when_they_ask(home: Path, work: Path) -> None:
    low = script(work.parent, EDIT, LONG, says("I did."), name="low.json")
    task = asks("task", subagent_type="coder", prompt="Change it.")
    top = script(work.parent, task, says("Done."))
    (home / "config.toml").write_text(AGENTS.format(top[9:], low[9:]), "utf-8")
    words = ("run", "--screen", "x", "--workspace", str(work), *ASKS)
    with AtScreen(*words, home=home) as person:
        person.until("the subagent coder asks", "yes, once", "│ Subagents", "│ coder")
        person.type("y")
        person.until("│   bash echo begun", "● task coder: Change it.")
        person.resize(80, 24)
        person.until_gone("│ Subagents")
        person.process.send_signal(signal.SIGTERM)
        assert person.end()[0] == 130


@pytest.mark.measured
def test_what_others_print_does_not_stand_in_the_middle_and_is_not_lost(
    home: Path, work: Path
) -> None:
    (work / "mine.py").write_text(PRINTS, "utf-8")
    words = ("run", "--screen", "x", "--workspace", str(work), "--from", str(work / "mine.py"))
    model = script(work.parent, asks("shout"), {"seconds": 2, "text": "Done."})
    with AtScreen(*words, "--model", model, home=home) as person:
        person.until("● shout · done", "printed here", "\\u001b[2J and there")
        status, ordinary = person.end()
    assert status == 0
    assert "printed here" in ordinary
    assert "\\u001b[2J and there" in ordinary


def test_a_run_that_breaks_off_leaves_a_terminal_that_works(home: Path, work: Path) -> None:
    with at_work(home, work, LONG, says("No.")) as person:
        person.until("  begun")
        for database in (home / "data").rglob("*.db*"):
            database.write_bytes(b"no database any more" * 1000)
        person.type("\x03\x03\x03")
        person.end()
        assert not person.seen.is_other
        assert person.settings == person.before


@pytest.mark.measured
def test_output_that_steers_terminals_is_shown_as_text(home: Path, work: Path) -> None:
    bell = "\x1b]0;mine\x07\x1b[2J\x1b[31mred"
    (work / "evil").write_text(f"{bell}\n", "utf-8")
    turns = ({**asks("bash", command="cat evil; sleep 30"), "text": bell}, says(bell))
    with at_work(home, work, *turns) as person:
        # Whatever else reached it would have failed there.
        person.until("\\u001b[31mred", "cat evil", "runs")
        person.type("\x03")
        status, ordinary = person.end()
    assert status == 0
    assert "\\u001b[31mred" in ordinary


@pytest.mark.measured
@pytest.mark.parametrize(
    ("variables", "why"), [({"NO_COLOR": "1"}, "NO_COLOR"), ({"TERM": "dumb"}, "TERM")]
)
def test_where_it_cannot_be_had_the_ordinary_view_says_so(
    variables: dict[str, str], why: str, home: Path, work: Path
) -> None:
    words = ("run", "--screen", "x", "--workspace", str(work))
    model = script(work.parent, says("Done."))
    seen = at_a_terminal(*words, "--model", model, home=home, variables=variables)
    assert seen.status == 0
    told = " ".join(seen.shown.split())
    assert "the whole screen cannot be had" in told
    assert why in told
    assert "\x1b[?1049h" not in seen.shown
    answer = start(*words, "--model", model, home=home)
    assert (answer.status, answer.out) == (0, "Done.\n")
    assert "standard input is no terminal" in answer.err


def test_it_can_be_had_always_and_not_this_once(home: Path, work: Path) -> None:
    (home / "config.toml").write_text('[run]\nview = "screen"\n', "utf-8")
    model = script(work.parent, says("Done."))
    words = ("run", "x", "--workspace", str(work), "--model", model)
    with AtScreen(*words, home=home) as person:
        assert person.end()[0] == 0
        assert "1049" in person.seen.ever
    with AtScreen(*words, "--no-screen", home=home) as person:
        assert person.end()[0] == 0
        assert "1049" not in person.seen.ever
    answer = start(*words, home=home)
    assert (answer.status, answer.out) == (0, "Done.\n")
    assert "cannot be had" not in answer.err  # nobody asked for it here
    refused = start(*words, "--screen", "--json", home=home)
    assert refused.status == 2
    assert "--screen is for somebody who watches" in refused.err


@pytest.mark.measured
def test_a_session_is_gone_on_with_on_the_whole_screen(home: Path, work: Path) -> None:
    with at_work(home, work, LONG, says("No.")) as person:
        person.until("  begun")
        person.process.send_signal(signal.SIGTERM)
        assert person.end()[0] == 130
    words = ("resume", "last", "And now?", "--screen", "--workspace", str(work))
    model = script(work.parent, says("It goes on.", seconds=2), name="more.json")
    with AtScreen(*words, "--model", model, home=home) as person:
        # What was before is there, and not counted.
        person.until("> Please do it.", "> And now?", "● bash echo begun", " 0 rounds")
        status, ordinary = person.end()
    assert (status, "It goes on." in ordinary) == (0, True)
    assert "1 round" in ordinary
