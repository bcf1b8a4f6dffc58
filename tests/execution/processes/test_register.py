"""The live register: who looks on sees what runs, and can end it."""

import asyncio
from pathlib import Path

import pytest
from execution.processes.ground import each, until_empty
from execution.processes.session import Session, session
from execution.processes.shell_kit import until

from holdfast.contract.shell import Confinement, KilledBy, LiveCommands
from holdfast.execution.processes import command as commanding
from holdfast.execution.processes import register as registering
from holdfast.execution.processes.capture import StreamName
from holdfast.execution.processes.command import Command, Limits, Report
from holdfast.execution.processes.register import Ending, Entered, LiveRegister, ending_of
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds


async def started(
    here: Session, text: str, limits: Limits | None = None
) -> tuple[str, "asyncio.Task[Report]"]:
    """A foreground command that is watched."""
    warden = await here.sandbox.warden()
    command = Command(["bash", "-c", text], str(here.workspace), here.sandbox.environment())
    capture = here.sandbox.capture("x")
    running = await commanding.start(warden, command, limits or Limits(), capture)
    return here.register.watch(running, text, "cal_1"), asyncio.create_task(running.finish())


@pytest.mark.req("OSA-STR-11")
@each("landlock")
async def test_commands_are_shown_while_they_run_and_shortly_after(
    tmp_path: Path, kind: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert registering.LINGER_SECONDS == 3
    async with session(tmp_path, kind) as here:
        as_a_port: LiveCommands = here.register
        assert as_a_port.all() == ()
        text = "echo out; echo err >&2; until [ -e go ]; do sleep 0.01; done; exit 4"
        number, finishing = await started(here, text)
        await until(lambda: here.register.all()[0].stderr_tail == "err\n")
        (live,) = here.register.all()
        assert (live.id, live.call_id, live.kind, live.command) == (
            number,
            "cal_1",
            "foreground",
            text,
        )
        assert (live.state, live.exit_code, live.killed_by) == ("running", None, None)
        assert (live.stdout_tail, live.started_at.endswith("+00:00")) == ("out\n", True)
        monkeypatch.setattr(registering, "LINGER_SECONDS", 2)
        (here.workspace / "go").touch()
        await finishing
        (over,) = here.register.all()
        assert (over.state, over.exit_code, over.killed_by) == ("exited", 4, None)
        assert (over.stdout_tail, over.stderr_tail) == ("out\n", "err\n")
        await asyncio.sleep(0.2)
        second, ending = await started(here, "true")
        await ending
        await until(lambda: [one.id for one in here.register.all()] == [second])
        await until(lambda: here.register.all() == ())


@each("landlock")
async def test_every_kind_of_command_is_in_it(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        job = await here.jobs.start("echo job; sleep 60", call_id="cal_a")
        shell = asyncio.create_task(here.shell.run("echo shell; sleep 60", call_id="cal_b"))
        _, finishing = await started(here, "echo front; sleep 60")
        await until(lambda: sum(bool(one.stdout_tail) for one in here.register.all()) == 3)
        shown = {one.kind: (one.call_id, one.stdout_tail) for one in here.register.all()}
        assert shown == {
            "job": ("cal_a", "job\n"),
            "persistent": ("cal_b", "shell\n"),
            "foreground": ("cal_1", "front\n"),
        }
        for one in here.register.all():
            assert here.register.terminate(one.id)
        assert (await finishing).killed_by == "user"
        assert (await shell).report.killed_by == "user"
        assert (await here.jobs.wait(job.id, seconds=10)).facts.killed_by == "user"
        assert {(one.state, one.killed_by) for one in here.register.all()} == {("killed", "user")}


@pytest.mark.req("OSA-STR-06")
@pytest.mark.req("OSA-SHL-06")
@each("landlock", "namespaces")
async def test_terminating_asks_and_then_ends_everything(tmp_path: Path, kind: Confinement) -> None:
    assert Limits().grace == 3
    async with session(tmp_path, kind) as here:
        text = "trap 'echo asked' TERM; setsid sleep 61 & touch up; while :; do sleep 0.05; done"
        number, finishing = await started(here, text, Limits(grace=0.3))
        await until(lambda: (here.workspace / "up").exists())
        assert here.register.terminate(number)
        report = await finishing
        assert (report.killed_by, report.captured.stdout.head) == ("user", b"asked\n")
        await until_empty(here.workspace)


@pytest.mark.measured
@pytest.mark.req("OSA-STR-10")
@each("landlock")
async def test_terminating_twice_is_harmless_and_shutdown_does_not_wait(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        number, finishing = await started(here, "touch up; exec sleep 60")
        await until(lambda: (here.workspace / "up").exists())
        assert (here.register.terminate(number), here.register.terminate(number)) == (True, True)
        assert (await finishing).killed_by == "user"
        assert not here.register.terminate(number)
        assert not here.register.terminate("job_unknown")
        (here.workspace / "up").unlink()
        stubborn = "trap '' TERM; touch up; while :; do sleep 0.05; done"
        _, finishing = await started(here, stubborn, Limits(grace=3600))
        await until(lambda: (here.workspace / "up").exists())
        job = await here.jobs.start(stubborn)
        here.register.close()
        assert (await finishing).killed_by == "abort"
        assert (await here.jobs.wait(job.id, seconds=10)).facts.killed_by == "session"
        assert here.register.all() == ()


@each("landlock")
async def test_how_a_command_ended_is_told_in_few_words(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        _, finishing = await started(here, "kill -9 $$")
        assert ending_of(await finishing) == Ending(137, "signal:9")
        _, finishing = await started(here, "sleep 60", Limits(idle=0.1, grace=0))
        assert ending_of(await finishing) == Ending(None, "timeout")
        _, finishing = await started(here, "sleep 60")
        await asyncio.sleep(0.05)
        finishing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await finishing
        assert here.register.all()[-1].killed_by == "abort"
        shell = await here.shell.run("kill -9 $$")
        assert (shell.report.exit_code, here.register.all()[-1].killed_by) == (137, "signal:9")


def nothing(_name: StreamName, _count: int) -> bytes:
    return b""


def nobody(_by: KilledBy, _grace: float | None) -> None:
    """It has ended."""


async def test_so_many_finished_ones_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registering, "MOST_OVER", 3)
    clock = SystemClock()
    register = LiveRegister(TimeIds(clock), clock)
    for number in range(5):
        entered = Entered("job", str(number), "", clock.now(), nothing, nobody)
        register.leave(register.enter(entered), Ending(0, None))
    assert [one.command for one in register.all()] == ["2", "3", "4"]
    register.close()
    register.close()
