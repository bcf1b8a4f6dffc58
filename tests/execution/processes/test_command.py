"""Commands in every kind of confinement: what they print, how they end, what is left of them."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from execution.processes.ground import each, family_of, opened, stop, until_empty

from holdfast.execution.processes import command as commanding
from holdfast.execution.processes import spawners
from holdfast.execution.processes.command import Command, Limits, Report, run, start
from holdfast.execution.processes.spawners import (
    SandboxLost,
)
from holdfast.runtime.abort import Abort

QUICK = Limits(wall=0.3, grace=0.3)


def text(report: Report) -> str:
    return (report.captured.stdout.head + report.captured.stderr.head).decode()


def status(report: Report) -> int | None:
    return None if report.ended is None else report.ended.exit


@each()
async def test_what_is_printed_and_how_it_ended_is_told(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        report = await ground.run("echo out; echo err >&2; exit 7")
        assert (report.captured.stdout.head, report.captured.stderr.head) == (b"out\n", b"err\n")
        assert (status(report), report.killed_by, report.left) == (7, None, None)
        assert report.captured.closed
        assert report.captured.path is None
        assert status(await ground.run("kill -SEGV $$")) == -11


@each("landlock")
async def test_input_is_written_while_output_is_read(tmp_path: Path, kind: str) -> None:
    much = os.urandom(8) * 500_000
    async with opened(tmp_path, kind) as ground:
        report = await ground.run("tee copy", stdin=much)
        assert (ground.workspace / "copy").read_bytes() == much
        assert report.captured.stdout.total == len(much)
        assert text(await ground.run("cat")) == ""
        unread = await ground.run("exec 0<&-; echo done", stdin=much)
        assert (status(unread), text(unread)) == (0, "done\n")


@pytest.mark.measured
@each("landlock")
async def test_what_cannot_be_started_says_why(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        missing = await ground.run_argv(["no-such-program"])
        assert missing.unstarted == "no-such-program: there is no such program"
        assert (status(missing), missing.killed_by) == (None, None)
        (ground.workspace / "data").write_text("x", "utf-8")
        assert "ermission" in str((await ground.run_argv(["./data"])).unstarted)
        assert status(await ground.run("true")) == 0


@each()
async def test_limits_end_a_command_and_keep_what_it_printed(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        wall = await ground.run("echo part; exec sleep 60", QUICK)
        assert (text(wall), wall.killed_by, status(wall)) == ("part\n", "timeout", -15)
        stubborn = await ground.run("trap '' TERM; echo part; while :; do sleep 60; done", QUICK)
        assert (text(stubborn), stubborn.killed_by, status(stubborn)) == ("part\n", "timeout", -9)
        stopped = await ground.run("kill -STOP $$", QUICK)
        assert (stopped.killed_by, status(stopped)) == ("timeout", -15)


@each("landlock")
async def test_the_idle_limit_begins_again_with_every_byte(tmp_path: Path, kind: str) -> None:
    idle = Limits(idle=1.0, grace=0.3)
    async with opened(tmp_path, kind) as ground:
        talking = "for n in $(seq 15); do printf . >&$((1 + n % 2)); sleep 0.1; done"
        report = await ground.run(talking, idle)
        assert (report.killed_by, status(report)) == (None, 0)
        silent = await ground.run("echo first; exec sleep 60", idle)
        assert (text(silent), silent.killed_by) == ("first\n", "idle")


HIDING = {
    "background": "sleep 4321 & echo",
    "session": "setsid sleep 4321 >/dev/null 2>&1 & echo",
    "twice": "(setsid sh -c 'trap \"\" TERM HUP; sleep 4321 & sleep 4321' >/dev/null 2>&1 &); echo",
    "stopped": "setsid sh -c 'kill -STOP $$' >/dev/null 2>&1 & echo",
    "hopping": "hop() { ( (sleep 0.01; hop) & ); }; (exec >/dev/null 2>&1; hop); echo",
}


@each()
@pytest.mark.parametrize("way", HIDING)
async def test_nothing_is_left_of_a_command_that_was_ended(
    tmp_path: Path, kind: str, way: str
) -> None:
    async with opened(tmp_path, kind) as ground:
        report = await ground.run(f"{HIDING[way]}; exec sleep 60", QUICK)
        assert report.killed_by == "timeout"
        await until_empty(ground.workspace)
        assert status(await ground.run("true")) == 0


@each()
async def test_what_hides_without_holding_the_output_ends_with_its_leader(
    tmp_path: Path, kind: str
) -> None:
    async with opened(tmp_path, kind) as ground:
        for way in ("session", "twice", "stopped", "hopping"):
            report = await ground.run(HIDING[way])
            assert (status(report), report.left) == (0, None)
            await until_empty(ground.workspace)


@each()
async def test_a_child_that_holds_the_output_goes_on_and_is_told(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        report = await ground.run("(sleep 0.5; echo late) & echo early")
        assert (status(report), text(report)) == (0, "early\n")
        assert report.left is not None
        assert await report.left.capture.wait_closed(10)
        assert report.left.capture.so_far().stdout.head == b"early\nlate\n"
        report.left.capture.close()
        await ground.warden.give_back(report.left.spawner)


@each()
async def test_commands_run_beside_each_other_and_end_alone(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        long = asyncio.create_task(ground.run("sleep 1; echo survived"))
        await asyncio.sleep(0.1)
        for _ in range(3):
            assert (await ground.run("setsid sleep 60 & exec sleep 60", QUICK)).killed_by
        assert text(await long) == "survived\n"


@each()
async def test_who_cancels_takes_the_command_with_him(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        task = asyncio.create_task(ground.run(HIDING["twice"] + "; touch begun; sleep 60"))
        while not (ground.workspace / "begun").exists():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until_empty(ground.workspace)
        assert status(await ground.run("true")) == 0


@each()
async def test_files_move_between_directories(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        report = await ground.run(
            "mkdir a b && touch a/f && python3 -c \"import os; os.rename('a/f', 'b/f')\""
        )
        assert (status(report), text(report)) == (0, "")
        assert (ground.workspace / "b" / "f").exists()


@each("landlock")
async def test_a_person_or_an_abort_ends_a_command(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        running = await start(
            ground.warden,
            Command(["sleep", "60"], str(ground.workspace), {"PATH": os.defpath}),
            Limits(grace=0.3),
            ground.capture,
        )
        finishing = asyncio.create_task(running.finish())
        await asyncio.to_thread(running.terminate)
        running.terminate()
        assert (await finishing).killed_by == "user"
        abort = Abort()
        aborted = asyncio.create_task(
            run(
                ground.warden,
                Command(["sleep", "60"], str(ground.workspace), {"PATH": os.defpath}),
                Limits(grace=0),
                ground.capture,
                abort,
            )
        )
        await asyncio.sleep(0.05)
        abort.set()
        report = await aborted
        assert (report.killed_by, status(report)) == ("abort", -9)


@each("unconfined")
async def test_an_outer_deadline_holds_when_nobody_answers(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commanding, "OUTER_SECONDS", 0.2)
    async with opened(tmp_path, kind) as ground:
        running = asyncio.create_task(ground.run("touch begun; sleep 60", QUICK))
        while not (ground.workspace / "begun").exists():
            await asyncio.sleep(0.005)
        family = family_of(ground)
        await stop(family)
        report = await running
        assert (report.killed_by, report.ended) == ("lost", None)
        for pid in family:
            os.kill(pid, signal.SIGCONT)


@each("unconfined")
async def test_a_spawner_that_does_not_end_a_call_is_let_go(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spawners, "ENDING_SECONDS", 0.1)
    async with opened(tmp_path, kind) as ground:
        spawner = ground.warden.spawner()
        await spawner.end()  # it answers when it is there
        family = family_of(ground)
        await stop(family)
        await ground.warden.give_back(spawner)
        assert spawner.lost
        for pid in family:
            os.kill(pid, signal.SIGCONT)
        assert status(await ground.run("true")) == 0


@each("unconfined")
async def test_a_spawner_that_was_lost_while_idle_is_not_used(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        spawner = ground.warden.spawner()
        await ground.warden.give_back(spawner)
        spawner.close()
        spawner.close()
        with pytest.raises(SandboxLost):
            await spawner.end()
        assert status(await ground.run("true")) == 0
