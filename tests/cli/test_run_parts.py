"""What a run is shown with: lines, cards, changes; and what each Ctrl-C means."""

import io
import os
import signal
from pathlib import Path

import anyio
import pytest
from command import Terminal
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.changes import change_lines, files_below, unknown
from holdfast.contract.agents import RunLimits
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.surfaces.cli import stopping
from holdfast.surfaces.cli.call_cards import CardLine, card_of, result_lines, todo_lines
from holdfast.surfaces.cli.paint import Paint
from holdfast.surfaces.cli.stopping import Ladder, Stops, heed_signals


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        ('{"command": "git  status\\n", "cwd": "x"}', "bash git status"),
        ('{"zone": "a", "path": "b"}', "bash b"),
        ('{"zone": "a", "n": 3}', "bash a"),
        ('{"n": 3, "list": [1]}', 'bash {"n": 3}'),
        ("{}", "bash"),
        ("{broken", "bash {broken"),
    ],
)
def test_a_card_names_the_tool_and_its_main_argument(arguments: str, title: str) -> None:
    assert card_of("bash", arguments).title == title


@pytest.mark.parametrize(
    ("result", "lines"),
    [
        ({"exit_code": 0, "stdout": "a\n", "stderr": "b\n"}, ["exit code 0", "a", "b"]),
        ({"timed_out": True, "exit_code": None}, ["timed out", None]),
        ({"matches": [{"path": "a", "line": 2, "text": "x"}]}, ["1 match", "a:2: x"]),
        ({"matches": [{"path": "a"}] * 2}, ["2 matches", None, None]),
        ({"entries": [{"path": "a"}]}, ["1 entry", "a"]),
        ({"entries": []}, ["no entries"]),
        ("text\n\nmore", ["done", "text", "more"]),
        ({"text": "\n".join("abcdefg")}, ["done", *"abcde", "… 2 more lines"]),
        (None, ["done"]),
        (5, ["done", "5"]),
    ],
)
def test_a_result_is_shown_in_a_few_lines(result: JsonValue, lines: list[str | None]) -> None:
    envelope: JsonObject = {"ok": True, "result": result}
    shown = [line.text for line in result_lines(card_of("probe", "{}"), envelope)]
    assert len(shown) == len(lines)
    assert all(wanted in (None, line) for line, wanted in zip(shown, lines, strict=True))


def test_what_was_cut_says_where_the_whole_is() -> None:
    envelope: JsonObject = {
        "ok": True,
        "result": {"head": "a"},
        "metadata": {
            "truncated": True,
            "output_bytes": 2000,
            "output_path": "/x",
            "duration_ms": 9,
        },
        "warnings": ["careful"],
    }
    shown = [line.text for line in result_lines(card_of("probe", "{}"), envelope, 13.4)]
    assert shown == ["done in 0.0 s", "a", "(2.0 kB in all, kept in /x)", "warning: careful"]
    envelope["metadata"] = {"truncated": True}
    assert "(cut, and not kept as a whole)" in [
        line.text for line in result_lines(card_of("probe", "{}"), envelope)
    ]


def test_a_failure_is_shown_with_its_kind() -> None:
    envelope: JsonObject = {
        "ok": False,
        "kind": "timeout",
        "message": "Too\nlate.",
        "metadata": None,
    }
    (line,) = result_lines(card_of("probe", "{}"), envelope)
    assert line == CardLine("timeout: Too late.", "bad")


def test_a_list_of_things_to_do_is_shown_with_marks() -> None:
    todos: list[JsonValue] = [
        {"content": "A", "status": "completed"},
        {"content": "B", "status": "in_progress"},
        {"content": "C", "status": "pending"},
        {"content": "D", "status": "other"},
    ]
    assert [line.text for line in todo_lines(todos)] == ["[x] A", "[>] B", "[ ] C", "[ ] D"]
    assert list(todo_lines(None)) == []


def test_changes_are_told_from_the_file_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n2\n3\n4\n5\n2\n", "utf-8")
    (tmp_path / "large").write_text("x" * 300_000, "utf-8")
    (tmp_path / "bytes").write_bytes(b"\xff")
    before = files_below(tmp_path)
    edit: JsonObject = {"path": "a", "old_string": "2", "new_string": "two"}
    assert change_lines("edit", edit, before) == [" 1", "-2", "+two", " 3", " 4"]
    everywhere = change_lines("edit", {**edit, "replace_all": True}, before)
    assert everywhere.count("+two") == 2
    assert change_lines("edit", edit, unknown) == ["-2", "+two"]
    assert change_lines("edit", {**edit, "old_string": ""}, before) == ["+two"]
    assert change_lines("write", {"path": "a", "content": "1\n"}, before)[:2] == [" 1", "-2"]
    for name in ("large", "bytes", "none", "a\0b"):
        assert change_lines("write", {"path": name, "content": "1\n"}, before) == ["+1"]
    assert change_lines("apply_patch", {"patch": "-a\n+b"}, before) == ["-a", "+b"]
    assert change_lines("read", {"path": "a"}, before) == []
    dashes: JsonObject = {"path": "sql", "old_string": "-- a\n", "new_string": "++ b\n"}
    assert change_lines("edit", dashes, before) == ["--- a", "+++ b"]
    many = change_lines("write", {"path": "n", "content": "x\n" * 5000}, before)
    assert (len(many), many[-1]) == (41, "… 4960 more lines")


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_have_bounded_changes(old: str, new: str) -> None:
    edit: JsonObject = {"path": "a", "old_string": old, "new_string": new}
    lines = change_lines("edit", edit, unknown, 10)
    assert len(lines) <= 11
    assert all(len(line) <= 201 for line in lines)


def test_a_dumb_terminal_and_no_terminal_get_plain_lines() -> None:
    for out, environment in ((io.StringIO(), {}), (Terminal(), {"TERM": "dumb"})):
        paint = Paint(out, environment)
        paint.status("unseen")
        paint.piece("")
        paint.piece("a\x1b[2J")
        paint.line("b", "bad")
        assert out.getvalue() == "a\\u001b[2J\nb\n"


def test_a_status_is_written_over_and_gone_before_a_line() -> None:
    out = Terminal()
    paint = Paint(out, {"NO_COLOR": "1"})
    for text in ("one", "one", "two"):
        paint.status(text)
    paint.line("line")
    assert out.getvalue() == "one\r   \rtwo\r   \rline\n"
    paint.piece("begun")
    paint.status("not now")
    assert out.getvalue().endswith("line\nbegun")


@pytest.mark.parametrize(
    ("presses", "runs", "steps"),
    [
        ([0], True, ["calls"]),
        ([0], False, ["run"]),
        ([0, 1], True, ["calls", "run"]),
        ([0, 5], True, ["calls", "calls"]),
        ([0, 1, 9], True, ["calls", "run", "kill"]),
        ([0, 1, 1], False, ["run", "waits", "kill"]),
    ],
)
def test_each_interrupt_means_more(presses: list[float], runs: bool, steps: list[str]) -> None:
    ladder = Ladder()
    assert [ladder.press(at, lambda: runs) for at in presses] == steps


async def test_the_third_interrupt_ends_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    said: list[str] = []
    stopped: list[str | None] = []

    class Session:
        def interrupt_call(self) -> bool:
            return False

        async def interrupt(self, note: str | None = None) -> None:
            stopped.append(note)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            own = os.kill

            def kill(process: int, number: int) -> None:
                killed.append(number)
                group.cancel_scope.cancel()

            stops = Stops(said.append, said.clear, said.clear)
            group.start_soon(heed_signals, Session(), Ladder(), stops)
            for number in range(3):
                while len(said) < number:  # noqa: ASYNC110 - signals tell nobody
                    await anyio.sleep(0.01)
                await anyio.sleep(0.01)
                if number == 2:
                    monkeypatch.setattr(os, "kill", kill)
                own(os.getpid(), signal.SIGINT)
            await anyio.sleep(5)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert (killed, stopped) == ([signal.SIGINT], [None])
    assert len(said) == 2


@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGHUP])
async def test_asked_to_end_once_more_the_run_is_not_waited_for(
    first: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    killed: list[int] = []

    class Session:
        def interrupt_call(self) -> bool:
            return True

        async def interrupt(self, note: str | None = None) -> None:
            done.append("interrupted")  # and it goes on all the same

    async def heard(number: int) -> None:
        while len(done) < number:  # noqa: ASYNC110 - signals tell nobody
            await anyio.sleep(0.01)

    monkeypatch.setattr(stopping, "_LAST_SECONDS", 0.0)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may ignore it
    said: list[str] = []
    hung_up = int(first == signal.SIGHUP)
    stops = Stops(said.append, lambda: done.append("ended"), lambda: done.append("hung up"))
    ladder = Ladder()
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            own = os.kill

            def kill(process: int, number: int) -> None:
                killed.append(number)
                group.cancel_scope.cancel()

            group.start_soon(heed_signals, Session(), ladder, stops)
            await anyio.wait_all_tasks_blocked()
            own(os.getpid(), first)
            await heard(1 + hung_up)
            if hung_up:  # the shell tells of it, too: that is not once more
                own(os.getpid(), first)
                await heard(3)
            monkeypatch.setattr(os, "kill", kill)
            own(os.getpid(), signal.SIGTERM)
            await anyio.sleep(5)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    told = ["hung up", "interrupted", "hung up"] if hung_up else ["interrupted"]
    assert (done, killed) == ([*told, "ended"], [signal.SIGTERM])
    assert ladder.is_over


def test_asked_to_end_while_it_ends_the_program_is_let_to() -> None:
    ladder = Ladder()
    ladder.end()
    assert [ladder.ask_to_end(), ladder.ask_to_end()] == ["waits", "now"]


def test_limits_narrow_each_by_itself() -> None:
    declared = RunLimits(rounds=5, tokens=10, retries=1)
    within = declared.within(RunLimits(rounds=9, tokens=3, cost=2.0))
    assert within == RunLimits(rounds=5, tokens=3, cost=2.0, retries=1)
    assert declared.within(RunLimits(seconds=1.0)).tokens == 10
