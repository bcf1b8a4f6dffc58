"""Commands that wait for input: the prompt is told when a limit ends them, and never guessed."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from execution.processes.ground import each
from execution.processes.session import session

from holdfast.contract.shell import CommandLimits, Confinement
from holdfast.execution.processes import command as commanding
from holdfast.execution.processes import waiting
from holdfast.execution.processes.command import Command, Limits, Report, Running
from holdfast.execution.processes.waiting import awaited_input, unfinished_line

ASKS = "import sys; sys.stdout.write('Name? '); sys.stdout.flush(); "
POLLS = "import select; select.select([0], [], [])"
OWN_TERMINAL = (
    "import os, pty, sys\n"
    "pid, terminal = pty.fork()\n"
    "if not pid:\n"
    "    input('Password: ')\n"
    "while piece := os.read(terminal, 100):\n"
    "    os.write(1, piece)\n"
)

WAITING = {
    # what: (text, the prompt)
    "python": (f'mkfifo p; python3 -c "{ASKS} input()" <> p', "Name? "),
    "without_a_prompt": ("mkfifo p; read -p 'not shown' x <> p", ""),
    "printed_prompt": ("mkfifo p; printf 'Go on? [y/N] ' >&2; read x <> p", "Go on? [y/N] "),
    "selecting": (f'mkfifo p; python3 -c "{ASKS}{POLLS}" <> p', "Name? "),
    "pipeline_that_waits": ("mkfifo p; printf 'Key: '; cat <> p | cat", "Key: "),
}
NOT_WAITING = {
    "sleeping": "printf 'Loading: '; exec sleep 60",
    "counting": "printf 'Really? '; while :; do :; done",
    "pipeline": "printf 'Loading: '; sleep 60 | cat",
    "quiet_pipeline": "echo; (sleep 60) 2>/dev/null | cat",
    "listening": f'python3 -c "import select; print(1, flush=True); {POLLS.replace("[0]", "[]")}"',
    "finished_line": f'mkfifo p; echo "Name?"; python3 -c "{POLLS}" <> p',
}


async def timed_out(
    tmp_path: Path, kind: Confinement, text: str, settled: Callable[[Running, int], Awaitable[bool]]
) -> Report:
    """A command whose time is over as soon as it is where the test wants it."""
    async with session(tmp_path, kind) as here:
        warden = await here.sandbox.warden()
        path = f"{Path(sys.executable).parent}:{os.defpath}"
        environment = here.sandbox.environment({"PATH": path})
        command = Command(["bash", "-c", text], str(here.workspace), environment)
        capture = here.sandbox.capture("x")
        running = await commanding.start(warden, command, Limits(grace=0.0), capture)
        finishing = asyncio.create_task(running.finish())
        while not finishing.done() and not await settled(running, warden.keeper):
            await asyncio.sleep(0.02)
        running.terminate("timeout")
        return await finishing


def seen_waiting(prompt: str) -> Callable[[Running, int], Awaitable[bool]]:
    async def seen(running: Running, keeper: int) -> bool:
        return await awaited_input(keeper, running.capture) == prompt

    return seen


async def never(_running: Running, _keeper: int) -> bool:
    return False


async def a_while(running: Running, _keeper: int) -> bool:
    await asyncio.sleep(0.5)
    return running.capture.printout.count > 0


@each()
@pytest.mark.parametrize("what", WAITING)
async def test_a_command_that_waits_for_input_is_told_with_its_prompt(
    tmp_path: Path, kind: Confinement, what: str
) -> None:
    text, prompt = WAITING[what]
    report = await timed_out(tmp_path, kind, text, seen_waiting(prompt))
    assert (report.killed_by, report.waiting_for) == ("timeout", prompt)


@each("landlock")
async def test_a_terminal_a_program_made_itself_is_seen(tmp_path: Path, kind: Confinement) -> None:
    text = f"python3 - <<'END'\n{OWN_TERMINAL}\nEND"
    report = await timed_out(tmp_path, kind, text, seen_waiting("Password: "))
    assert (report.killed_by, report.waiting_for) == ("timeout", "Password: ")


@each("landlock", "namespaces")
@pytest.mark.parametrize("what", NOT_WAITING)
async def test_others_are_not_taken_for_waiting(
    tmp_path: Path, kind: Confinement, what: str
) -> None:
    report = await timed_out(tmp_path, kind, NOT_WAITING[what], a_while)
    assert (report.killed_by, report.waiting_for) == ("timeout", None)


@each()
async def test_who_asks_the_terminal_does_not_wait_at_all(
    tmp_path: Path, kind: Confinement
) -> None:
    text = "python3 -c 'open(\"/dev/tty\")'; read x; python3 -c 'input(\"Name? \")'"
    report = await timed_out(tmp_path, kind, text, never)
    assert report.killed_by is None
    assert report.ended is not None
    assert report.ended.exit == 1
    assert b"/dev/tty" in report.captured.stderr.head
    assert b"EOFError" in report.captured.stderr.head


@each("landlock")
async def test_the_persistent_shell_tells_it_too(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        text = "mkfifo p; printf 'Token: '; read x <> p"
        done = await here.shell.run(text, limits=CommandLimits(idle=1.0, grace=0.0))
        assert (done.report.killed_by, done.report.waiting_for) == ("idle", "Token: ")


@each("landlock")
async def test_where_nobody_may_look_the_prompt_decides(
    tmp_path: Path, kind: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "SYSTEM_CALL", "no-such-file")
    sure = await timed_out(tmp_path, kind, "printf 'Password:'; sleep 60", a_while)
    assert sure.waiting_for == "Password:"


@each("landlock")
async def test_where_nobody_may_look_other_words_mean_nothing(
    tmp_path: Path, kind: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "SYSTEM_CALL", "no-such-file")
    report = await timed_out(tmp_path, kind, "printf working; sleep 60", a_while)
    assert (report.killed_by, report.waiting_for) == ("timeout", None)


@each("landlock")
async def test_so_many_processes_are_looked_at(
    tmp_path: Path, kind: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "MOST_PROCESSES", 1)
    report = await timed_out(tmp_path, kind, "mkfifo p; printf 'Name? '; read x <> p", a_while)
    assert (report.killed_by, report.waiting_for) == ("timeout", None)


@pytest.mark.parametrize(
    ("printed", "line"),
    [(b"", ""), (b"a\n", ""), (b"a\nb: ", "b: "), (b"\r50%\r60%", "60%"), (b"\xff?", "\ufffd?")],
)
def test_the_unfinished_line_is_what_follows_the_last_end(printed: bytes, line: str) -> None:
    assert unfinished_line(printed) == line


async def test_a_keeper_that_is_gone_gives_no_evidence() -> None:
    assert await asyncio.to_thread(waiting.evidence_of_waiting, 2**22 + 1, {1}) == "nothing"
