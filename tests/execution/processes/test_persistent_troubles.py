"""The persistent shell in trouble: lost, aborted, begun anew, too large, or not there at all."""

import asyncio
import os
import signal
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest
from execution.processes.ground import each, until_empty
from execution.processes.session import session
from execution.processes.shell_kit import family_below, out, run, stopped, until

from holdfast.contract.errors import InvalidArguments, SandboxNotRunning
from holdfast.contract.shell import CommandLimits, Confinement
from holdfast.execution.processes import framing, shell_process, shell_turn
from holdfast.execution.processes.capture import unread
from holdfast.execution.processes.framing import Answer
from holdfast.execution.processes.living_shell import LivingShell
from holdfast.execution.processes.shell_process import Place, ShellProcess
from holdfast.runtime.abort import Abort


@pytest.mark.measured
@each("landlock")
async def test_restart_and_close_begin_anew(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        first = (await here.shell.run("mkdir d; cd d; export X=1; sleep 60 & true")).facts
        facts = await here.shell.restart()
        assert (facts.status, facts.cwd, facts.env_keys) == ("idle", str(here.workspace), ())
        assert (facts.command_count, facts.shell_id != first.shell_id) == (0, True)
        await until_empty(here.workspace / "d")
        await run(here, "cd d; export X=1")
        running = asyncio.create_task(run(here, "trap '' TERM; touch begun; sleep 60"))
        waiting = asyncio.create_task(out(here, 'pwd; echo "<$X>"'))
        while not (here.workspace / "d" / "begun").exists():
            await asyncio.sleep(0.01)
        await here.shell.restart()
        assert (await running).killed_by == "user"
        assert await waiting == f"{here.workspace}\n<>\n"
        await run(here, "cd d")
        await here.shell.close()
        assert (here.shell.inspect().status, here.shell.inspect().cwd) == (
            "closed",
            str(here.workspace),
        )
        await here.shell.close()
        done = await here.shell.run("pwd")
        assert (done.report.stdout.text(), done.facts.status) == (f"{here.workspace}\n", "idle")


@each("landlock")
async def test_aborting_and_cancelling_take_the_shell_along(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        await run(here, "export X=1")
        abort = Abort()
        running = asyncio.create_task(here.shell.run("touch begun; sleep 60", abort=abort))
        await until(lambda: (here.workspace / "begun").exists())
        abort.set()
        assert (await running).report.killed_by == "abort"
        cancelled = asyncio.create_task(here.shell.run("touch again; setsid sleep 60"))
        await until(lambda: (here.workspace / "again").exists())
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        await until_empty(here.workspace)
        assert await out(here, "echo $X") == "1\n"


@each("landlock", "namespaces", "unconfined")
async def test_a_sandbox_that_is_lost_is_opened_anew(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        await run(here, "export X=1")
        running = asyncio.create_task(run(here, "echo part; touch begun; sleep 60"))
        await until(lambda: (here.workspace / "begun").exists())
        os.kill(family_below((await here.sandbox.warden()).keeper)[1], signal.SIGKILL)
        lost = await running
        assert (lost.killed_by, lost.exit_code, lost.stdout.text()) == ("lost", None, "part\n")
        assert await out(here, "echo $X") == "1\n"
        warden = await here.sandbox.warden()
        os.kill(family_below(warden.keeper)[1], signal.SIGKILL)
        while not warden.lost:
            time.sleep(0.001)  # noqa: ASYNC251 - the loop must not hear of it before the next command
        assert await out(here, "echo $X") == "1\n"


@each("unconfined")
async def test_an_outer_deadline_holds_for_the_shell_too(
    tmp_path: Path, kind: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell_turn, "OUTER_SECONDS", 0.2)
    async with session(tmp_path, kind) as here:
        limits = CommandLimits(grace=0.1)
        running = asyncio.create_task(run(here, "touch begun; sleep 60", limits))
        await until(lambda: (here.workspace / "begun").exists())
        async with stopped((await here.sandbox.warden()).keeper):
            here.register.terminate(here.register.all()[0].id)
            assert (await running).killed_by == "lost"


async def test_without_a_sandbox_it_is_told(tmp_path: Path) -> None:
    async with session(tmp_path, "landlock") as here:
        await here.sandbox.close()
        with pytest.raises(SandboxNotRunning, match="the session is closed"):
            await here.shell.run("true")
        assert (await here.shell.wait(seconds=0)).status == "idle"


@pytest.mark.parametrize("text", ["echo \0", "echo \ud800"])
async def test_what_is_no_command_text_is_refused(tmp_path: Path, text: str) -> None:
    async with session(tmp_path, "unconfined") as here:
        with pytest.raises(InvalidArguments):
            await here.shell.run(text)
        await run(here, "true")


@each("unconfined")
async def test_without_bash_the_report_says_so(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind, path="/nowhere") as here:
        report = await run(here, "true")
        assert (report.exit_code, report.killed_by) == (None, None)
        assert report.unstarted == "bash cannot be started: bash: there is no such program"


@pytest.mark.measured
@each("unconfined")
async def test_variables_no_shell_can_be_started_with_are_dropped(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        text = "x=$(head -c 3000000 /dev/zero | tr '\\0' x); export B=1 BIG=$x"
        assert (await here.shell.run(text)).facts.env_keys == ("B", "BIG")
        await run(here, "exit")
        report = await run(here, 'echo "<$B>"')
        assert (report.stdout.text(), len(report.warnings)) == ("<>\n", 1)
        assert "variables from before; they were dropped" in report.warnings[0]


@each("unconfined")
async def test_so_many_variables_are_read_and_no_more(
    tmp_path: Path, kind: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(framing, "MOST_VARIABLES", 100_000)
    async with session(tmp_path, kind) as here:
        await run(here, "export A=1")
        text = "x=$(head -c 3000000 /dev/zero | tr '\\0' x); export B=1 BIG=$x; cd /; (exit 5)"
        done = await here.shell.run(text)
        assert (done.report.exit_code, done.facts.env_keys, done.facts.cwd) == (5, ("A",), "/")
        assert (await here.shell.run("unset BIG")).facts.env_keys == ("A", "B")


@each("unconfined")
async def test_a_long_text_is_told_in_pieces(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        text = "x='" + "y" * 300_000 + "'; echo ${#x}"
        assert await out(here, text) == "300000\n"


@each("unconfined")
async def test_a_shell_that_cannot_open_its_pipes_is_tried_twice(
    tmp_path: Path, kind: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = framing.opening

    def elsewhere(pipes: Iterable[int]) -> str:
        return plain(pipes).replace("/proc/self", "/nowhere")

    async with session(tmp_path, kind) as here:
        monkeypatch.setattr(framing, "opening", elsewhere)
        report = await run(here, "true")
        assert report.unstarted == "the shell cannot open the pipes it prints to"
        monkeypatch.undo()
        assert await out(here, "echo on") == "on\n"


@each("unconfined")
async def test_variables_that_cannot_be_read_are_told(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        shell = LivingShell(here.sandbox)
        answer = Answer(ran=True, moved=False, cwd="", status=0, variables=b"junk")
        assert "could not be read" in shell.learn(answer)[0]
        assert shell.state.cwd == str(here.workspace)
        await shell.end()
        shell.abandon()


@each("unconfined")
async def test_a_shell_that_died_meanwhile_answers_nothing(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        warden = await here.sandbox.warden()
        spawner = warden.spawner()
        place = Place("/bin/bash", str(here.workspace), {})
        process = ShellProcess(spawner, place, [])
        os.kill(await spawner.started(), signal.SIGKILL)
        time.sleep(0.1)  # noqa: ASYNC251 - the loop must not hear of it
        answered: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
        process.ask(partial(framing.frame, ":", 0), answered.set_result)
        assert await answered is None
        process.close()
        process.close()
        await warden.give_back(spawner)


def _is_stopped(number: str) -> bool:
    stat = Path(f"/proc/{number.strip()}/stat").read_text("utf-8")
    return stat.rpartition(")")[2].split()[0] == "T"


@each("unconfined")
async def test_a_shell_that_will_not_end_is_killed(
    tmp_path: Path, kind: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell_process, "ENDING_SECONDS", 0.1)
    async with session(tmp_path, kind) as here:
        # It reads past the answer without giving one, and is stopped then. Nobody looks before.
        number = here.workspace / "number"

        def unread_once_stopped(pipe: int) -> int:
            stopped = number.exists() and _is_stopped(number.read_text("utf-8"))
            return unread(pipe) if stopped else 1

        monkeypatch.setattr(shell_process, "unread", unread_once_stopped)
        stop = "(until grep -q pipe_read /proc/$$/wchan; do sleep 0.01; done; kill -STOP $$) &"
        stop = f"echo $$ > number; {stop}"
        assert (await run(here, f"{stop} set -n")).exit_code == 137
        assert await out(here, "echo on") == "on\n"
        warden = await here.sandbox.warden()
        spawner = warden.spawner()
        process = ShellProcess(spawner, Place("/bin/bash", "/", {}), [])
        os.kill(await spawner.started(), signal.SIGSTOP)
        await process.end()
        assert process.ended.result().exit == -9
        process.close()
        await warden.give_back(spawner)
