"""What whoever reads along is told of a run: subagents, open calls, commands, refusals, errors."""

import io
import json
import os
import signal
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from agent_scripts import PATIENCE, Typed, asks, at_a_terminal, lines_of, says, script
from command import HOLDFAST, Cli, Terminal, start
from terminal_screen import TerminalScreen

from holdfast.contract.events import (
    CallSettled,
    Event,
    ModelReplied,
    ModelRequested,
    Payload,
    UserMessage,
)
from holdfast.contract.model import TextDelta
from holdfast.surfaces.cli import program
from holdfast.surfaces.cli.asked_about import Asked
from holdfast.surfaces.cli.held import MOST_LIVE
from holdfast.surfaces.cli.live_view import LiveView
from holdfast.surfaces.cli.paint import Paint
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.watched import Watched

ENDED = msgspec.Raw(b'{"ok":true,"result":{"exit_code":0,"stdout":"","stderr":""}}')
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


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n", "utf-8")
    return folder


def _agents(home: Path, top: str, low: str) -> None:
    paths = (one.removeprefix("scripted:") for one in (top, low))
    (home / "config.toml").write_text(AGENTS.format(*paths), "utf-8")


def test_a_subagent_is_shown_by_its_name_with_its_calls_and_its_end(
    cli: Cli, home: Path, work: Path
) -> None:
    task = asks("task", subagent_type="coder", prompt="Look at it.")
    calls = (asks("read", path="a.txt"), asks("bash", command="exit 4"), says("I looked."))
    top = script(work.parent, task, says("Done."))
    _agents(home, top, script(work.parent, *calls, name="low.json"))
    answer = cli("run", "x", "--workspace", str(work))
    assert (answer.status, answer.out) == (0, "Done.\n")
    _, card, begins, *rest = answer.err.splitlines()
    assert card == "* task coder: Look at it."
    assert begins.startswith("+ coder begins (ses_")
    assert rest[:5] == [
        "  coder: read a.txt",
        "  coder: bash exit 4",
        "  coder: bash: exit code 4",
        "- coder is done",
        rest[4],
    ]
    assert rest[4].startswith("  done in ")
    assert rest[5] == "  I looked."


@pytest.mark.measured
def test_while_others_work_that_is_told_and_ctrl_c_is_an_interrupt(home: Path, work: Path) -> None:
    task = asks("task", subagent_type="coder", prompt="Look at it.", background=True)
    low = script(work.parent, {"text": "late", "seconds": 60}, name="low.json")
    _agents(home, script(work.parent, task, says("It works on.")), low)
    seen = at_a_terminal(
        *("run", "x", "--workspace", str(work)),
        home=home,
        typed=[Typed("waits for work in the background · coder at work", "\x03")],
    )
    assert (seen.status, "nothing is lost; go on with:" in seen.shown) == (130, True)


def test_what_a_call_of_before_came_to_is_told_when_a_session_goes_on(
    home: Path, work: Path
) -> None:
    model = script(work.parent, asks("bash", command="touch begun; sleep 60"))
    with subprocess.Popen(
        [str(HOLDFAST), "run", "x", "--json", "--workspace", str(work), "--model", model],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
    ) as process:
        assert process.stdout is not None
        session = json.loads(process.stdout.readline())["session_id"]
        while "call.intended" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGKILL)
    (one,) = json.loads(start("sessions", "--status", "left", "--json", home=home).out)["sessions"]
    assert (one["id"], one["left"], one["reported"]) == (session, True, "idle")
    listed = start("sessions", home=home).out.splitlines()[1]
    assert " left " in listed
    assert "status       left" in start("sessions", "show", session, home=home).out
    again = script(work.parent, says("Going on."), name="again.json")
    shown = start("resume", session, "--model", again, home=home).err.splitlines()
    assert shown[1] == "* bash touch begun; sleep 60"
    assert shown[2].startswith("  execution_error: ")
    assert "aborted by host restart" in shown[2]


def test_what_was_refused_meanwhile_is_told_when_a_session_goes_on(
    cli: Cli, work: Path, tool_file: Path
) -> None:
    tools = ("--from", str(tool_file))
    model = script(work.parent, asks("wipe", path="x"))
    cli("run", "x", "--later", "--workspace", str(work), "--model", model, *tools)
    (question,) = json.loads(cli("sessions", "questions", "--json").out)["questions"]
    session, approval = question["session_id"], question["approval_id"]
    cli("sessions", "answer", session, approval, "--deny", "--note", "not on a Friday")
    again = script(work.parent, says("Then not."), name="again.json")
    answer = cli("resume", session, "--model", again, *tools)
    assert (answer.status, answer.out) == (0, "Then not.\n")
    _, card, refusal, *_ = answer.err.splitlines()
    assert (card, refusal.split(":")[0]) == ("* wipe x", "  user_denied")
    assert "not on a Friday" in refusal
    assert " · 1 call refused" in answer.err


@pytest.mark.parametrize("at_terminal", [True, False])
def test_what_is_asked_later_is_told_at_once(at_terminal: bool, home: Path, work: Path) -> None:
    question = {"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]}
    model = script(work.parent, asks("question", questions=[question]))
    words = ("run", "x", "--later", "--workspace", str(work), "--model", model)
    if at_terminal:
        seen = at_a_terminal(*words, home=home)
        status, told = seen.status, seen.shown
    else:
        answer = start(*words, home=home)
        status, told = answer.status, answer.err
    assert (status, "  ? Which colour? [Red | Blue]" in told) == (4, True)


def test_a_call_that_its_tool_refuses_is_counted_as_well(cli: Cli, home: Path, work: Path) -> None:
    """As a promotion is, where a person agreed and the outcome is not reached."""
    words = ("run", "x", "--profile", "managed", "--workspace", str(work), "--model")
    asked = asks("session_get_snapshot", session_id="ses_of_another")
    answer = cli(*words, script(work.parent, asked, says("No.")))
    assert " · 1 call refused\n" in answer.err
    end = lines_of(cli(*words, script(work.parent, asked, says("No.")), "--json"))[-1]
    assert end["refused"] == 1


def test_how_many_calls_were_refused_is_told_and_the_run_is_done(
    cli: Cli, work: Path, tool_file: Path
) -> None:
    calls = [*asks("wipe", path="x")["calls"], *asks("wipe", path="y")["calls"]]
    model = script(work.parent, {"calls": calls}, says("It was refused."))
    common = ("run", "x", "--workspace", str(work), "--model", model, "--from", str(tool_file))
    answer = cli(*common, "--headless")
    assert (answer.status, " · 2 calls refused\n" in answer.err) == (0, True)
    end = lines_of(cli(*common, "--headless", "--json"))[-1]
    assert (end["exit"], end["refused"]) == (0, 2)
    well = script(work.parent, says("Hello."), name="well.json")
    end = lines_of(cli("run", "x", "--json", "--workspace", str(work), "--model", well))[-1]
    assert (end["exit"], end["refused"]) == (0, 0)


@pytest.mark.measured
def test_what_a_command_prints_is_a_sign_of_life_for_programs(home: Path, work: Path) -> None:
    command = "echo first; until test -e more; do sleep 0.05; done"
    model = script(work.parent, asks("bash", command=command), says("Done."))
    with subprocess.Popen(
        [str(HOLDFAST), "run", "x", "--json", "--workspace", str(work), "--model", model],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
    ) as process:
        assert process.stdout is not None
        session = json.loads(process.stdout.readline())["session_id"]
        told: dict[str, object] = {}
        while told.get("kind") != "sign":
            told = json.loads(process.stdout.readline())
        assert isinstance(told["progress"], dict)
        assert told["progress"]["message"] == "first"
        with subprocess.Popen(
            [str(HOLDFAST), "sessions", "watch", session],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOLDFAST_HOME": str(home)},
        ) as watching:
            assert watching.stdout is not None
            while (line := watching.stdout.readline()) != ". bash: first\n":
                assert line
            (work / "more").touch()
            rest, _ = watching.communicate(timeout=PATIENCE)
        process.communicate(timeout=PATIENCE)
    assert rest.splitlines()[-1] == "- idle"


@pytest.mark.parametrize(
    ("command", "more", "said"),
    [("exit 3", {}, "exit code 3"), ("sleep 60", {"timeout_ms": 300}, "timed out")],
)
def test_a_command_that_failed_is_shown_so_to_whoever_watches(
    command: str, more: dict[str, int], said: str, cli: Cli, work: Path
) -> None:
    model = script(work.parent, asks("bash", command=command, **more), says("Done."))
    end = lines_of(cli("run", "x", "--json", "--workspace", str(work), "--model", model))[-1]
    shown = cli("sessions", "show", end["session_id"]).out
    assert f"  [{said}, " in shown


@pytest.mark.parametrize(
    ("result", "line"),
    [
        (b'{"exit_code":0,"stdout":"hi"}', '+ bash: {"exit_code":0,"stdout":"hi"}'),
        (b'{"exit_code":3}', '! bash: exit code 3: {"exit_code":3}'),
        (b'{"timed_out":true}', '! bash: timed out: {"timed_out":true}'),
    ],
)
def test_from_another_window_a_command_that_failed_is_a_failure(result: bytes, line: str) -> None:
    out = io.StringIO()
    watched = Watched("ses_1", Screen(out, out), full=False)
    envelope = msgspec.Raw(b'{"ok":true,"result":%s}' % result)
    watched.show(_event(CallSettled(call_id="cal_1", tool="bash", envelope=envelope)))
    assert out.getvalue() == f"{line}\n"


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("run", "--json", "--bogus", "x"), "end"),
        (("resume", "--json", "--bogus", "x"), "end"),
        (("run", "--json", "x", "--max-rounds", "0"), "end"),
        (("sessions", "watch", "nope", "--json"), None),
        (("sessions", "events", "nope", "--json"), None),
        (("sessions", "bogus", "--json"), None),
    ],
)
def test_an_error_is_one_line_for_whoever_reads_lines(
    words: tuple[str, ...], kind: str | None, cli: Cli, work: Path
) -> None:
    model = script(work.parent, says("Hello."))
    cli("run", "x", "--workspace", str(work), "--model", model)  # so that there is a store
    answer = cli(*words)
    assert (answer.status, answer.out.count("\n")) == (2, 1)
    told = json.loads(answer.out)
    assert told.get("kind") == kind
    assert told["problem" if kind else "error"] in answer.err
    assert kind is None or (told["exit"], told["executed"], told["refused"]) == (2, False, 0)


@pytest.mark.parametrize(
    ("problem", "status"), [(RuntimeError("boom"), 1), (KeyboardInterrupt, 130)]
)
def test_what_nobody_foresaw_is_the_end_of_a_run_too(
    problem: BaseException, status: int, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise problem

    monkeypatch.setattr(program, "_answer", fail)
    answer = cli("run", "x", "--json")
    (end,) = lines_of(answer)
    assert (answer.status, end["kind"], end["exit"]) == (status, "end", status)
    watched = cli("sessions", "watch", "x", "--json")
    assert watched.out.count("\n") == (0 if status == 130 else 1)  # whoever watches stops by that


def test_another_window_of_forty_columns_breaks_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out = Terminal()
    watched = Watched("ses_1", Screen(out, out), full=False)
    watched.show(TextDelta("deliberating " * 9))
    watched.show(_event(UserMessage(message="considering " * 7)))
    rows = TerminalScreen(40, 20).write(out.getvalue()).lines
    assert {word for row in rows for word in row.split()} == {">", "deliberating", "considering"}


def _event(payload: Payload) -> Event:
    return Event(
        session_id="ses_1",
        sequence=1,
        id="evt_1",
        at=datetime(2026, 1, 1, tzinfo=UTC),
        wake_id=None,
        payload=payload,
        previous=b"",
        hash=b"",
    )


def test_while_a_person_is_asked_so_much_is_kept_and_no_event_is_lost() -> None:
    out = Terminal()
    view = LiveView(Paint(out, {"NO_COLOR": "1", "TERM": "dumb"}), None)
    requested = ModelRequested(request_id="r", model="m", request_hash="h")
    with view.paused(Asked()):
        view.show(_event(requested))
        for _ in range(MOST_LIVE + 500):
            view.show(TextDelta("word "))
        for _ in range(MOST_LIVE + 500):
            view.show(_event(CallSettled(call_id="c", tool="bash", envelope=ENDED)))
        whole = "word " * (MOST_LIVE + 500)
        view.show(_event(ModelReplied(request_id="r", reply={"text": whole})))
    shown = out.getvalue()
    assert shown.count("exit code 0") == MOST_LIVE + 500
    assert "(500 live pieces came while you were asked, and not shown)" in shown
    assert whole in shown  # the event tells all of it
