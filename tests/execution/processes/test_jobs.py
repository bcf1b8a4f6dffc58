"""Background jobs: started, followed, ended, and never more than that."""

import asyncio
import os
import re
import signal
from pathlib import Path

import msgspec
import pytest
from execution.processes.ground import each, running_in, until_empty
from execution.processes.session import Session, session
from execution.processes.shell_kit import family_below, stopped, until
from execution.processes.test_capture import TakesOutX

from holdfast.contract.errors import (
    InvalidArguments,
    OperationFailed,
    SandboxNotRunning,
    Unavailable,
)
from holdfast.contract.shell import Confinement, Jobs
from holdfast.execution.processes import command as commanding
from holdfast.execution.processes import jobs as jobs_module
from holdfast.execution.processes import past_jobs
from holdfast.execution.processes.all_jobs import AllJobs
from holdfast.execution.processes.command import Command, Left, Limits


async def left_by(here: Session, text: str) -> Left:
    """What a foreground command leaves behind."""
    command = Command(["bash", "-c", text], str(here.workspace), here.sandbox.environment())
    warden = await here.sandbox.warden()
    report = await commanding.run(warden, command, Limits(), here.sandbox.capture("x"))
    assert report.left is not None
    return report.left


@pytest.mark.req("OSA-SHL-17")
@each()
async def test_a_job_runs_detached_and_prints_into_its_log(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        as_a_port: Jobs = here.jobs
        pause = "sleep 0.05"
        text = (
            f"echo out; {pause}; echo err >&2; {pause}; echo $$ $(ps -o sid= $$); read x; (exit 7)"
        )
        facts = await as_a_port.start(text)
        assert (facts.state, facts.exit_code, facts.cwd) == ("running", None, str(here.workspace))
        assert facts.started_at.endswith("+00:00")
        done = (await here.jobs.wait(facts.id, seconds=15)).facts
        assert (done.state, done.exit_code, done.killed_by) == ("exited", 7, None)
        assert done.log_path is not None
        log = Path(done.log_path)
        assert re.fullmatch(r"bg-.{8}\.log", log.name)
        assert (log.parent, log.stat().st_mode & 0o777) == (here.folder, 0o600)
        leader = str(facts.pid)
        assert log.read_text("utf-8").split() == ["out", "err", leader, leader]
        assert done.byte_count == log.stat().st_size
        assert here.jobs.tail(facts.id) == log.read_text("utf-8")
        assert 0.1 <= done.seconds == here.jobs.poll(facts.id).seconds


@each("landlock")
async def test_programs_directories_and_variables_are_as_asked(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        (here.workspace / "d").mkdir()
        job = await here.jobs.start(
            ["sh", "-c", "pwd; echo $A $0", "two words"],
            cwd=str(here.workspace / "d"),
            environment={"A": "1"},
        )
        await here.jobs.wait(job.id, seconds=10)
        assert here.jobs.tail(job.id) == f"{here.workspace}/d\n1 two words\n"
        assert (job.command, job.cwd) == ("sh -c pwd; echo $A $0 two words", f"{here.workspace}/d")
        failing = await here.jobs.start("false | true")
        assert (await here.jobs.wait(failing.id, seconds=10)).facts.exit_code == 1, "pipefail is on"


@each("landlock")
async def test_all_are_listed_the_oldest_first(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        assert here.jobs.all() == ()
        started = [(await here.jobs.start(f"echo {n}")).id for n in range(3)]
        assert [one.id for one in here.jobs.all()] == started == sorted(started)


@pytest.mark.req("OSA-SHL-18")
@each("landlock")
async def test_a_start_that_gives_no_process_is_a_failure(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        with pytest.raises(OperationFailed, match="no-such-program: there is no such program"):
            await here.jobs.start(["no-such-program"])
        with pytest.raises(OperationFailed, match="No such file"):
            await here.jobs.start("true", cwd="/nowhere/at/all")
        with pytest.raises(OperationFailed, match="NUL"):
            await here.jobs.start(["echo", "a\0b"])
        assert (here.jobs.all(), list(here.folder.iterdir())) == ((), [])
        assert here.register.all() == ()


@pytest.mark.req("OSA-SHL-16")
@each("unconfined")
async def test_a_start_takes_only_so_long(
    tmp_path: Path, kind: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert jobs_module.START_SECONDS == 10
    monkeypatch.setattr(jobs_module, "START_SECONDS", 0.2)
    async with session(tmp_path, kind) as here:
        warden = await here.sandbox.warden()
        await warden.give_back(warden.spawner())
        async with stopped(warden.keeper):
            with pytest.raises(OperationFailed, match=r"did not start within 0\.2 seconds"):
                await here.jobs.start("true")
        assert (here.jobs.all(), list(here.folder.iterdir())) == ((), [])
        monkeypatch.undo()
        assert (await here.jobs.start("true")).state == "running"


async def test_without_a_sandbox_it_is_told(tmp_path: Path) -> None:
    async with session(tmp_path, "landlock") as here:
        await here.sandbox.close()
        with pytest.raises(SandboxNotRunning, match="the session is closed"):
            await here.jobs.start("true")


@pytest.mark.req("OSA-SHL-10")
@pytest.mark.req("OSA-STR-12")
@each()
async def test_killing_reaches_everything(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        polite = await here.jobs.start("trap 'echo asked; exit 3' TERM; touch up; sleep 60 & wait")
        await until(lambda: (here.workspace / "up").exists())
        ended = await here.jobs.kill(polite.id)
        assert (ended.state, ended.killed_by, ended.exit_code) == ("killed", "user", None)
        assert not ended.forced
        assert here.jobs.tail(polite.id) == "asked\n"
        hidden = "(trap '' TERM; setsid sh -c 'sleep 61 & sleep 62' >/dev/null 2>&1 &);"
        stubborn = await here.jobs.start(
            f"trap '' TERM; {hidden} touch on; while :; do sleep 60; done"
        )
        await until(lambda: (here.workspace / "on").exists())
        ended = await here.jobs.kill(stubborn.id, grace=0.2)
        assert (ended.killed_by, ended.forced) == ("user", True)
        await until_empty(here.workspace)
        again = await here.jobs.kill(stubborn.id)
        assert (again.state, again.killed_by) == ("killed", "user")


@each("landlock")
async def test_ending_by_a_signal_is_told(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        job = await here.jobs.start("kill -SEGV $$")
        facts = (await here.jobs.wait(job.id, seconds=10)).facts
        assert (facts.state, facts.killed_by, facts.exit_code) == ("killed", "signal:11", 139)
        assert (await here.jobs.kill(job.id)).killed_by == "signal:11"


@each("landlock")
async def test_only_jobs_of_the_session_are_known(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        await here.jobs.start("sleep 60")
        for name in ("1", "job_other", str(os.getpid())):
            with pytest.raises(InvalidArguments) as refused:
                here.jobs.poll(name)
            assert str(refused.value) == f"there is no job '{name}'"
            with pytest.raises(InvalidArguments):
                await here.jobs.kill(name)
            with pytest.raises(InvalidArguments):
                here.jobs.tail(name)
            with pytest.raises(InvalidArguments):
                await here.jobs.wait(name, seconds=0)


@each()
async def test_a_job_goes_on_while_something_holds_its_output(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        job = await here.jobs.start("(until [ -e go ]; do sleep 0.01; done; echo late) & exit 4")
        waited = await here.jobs.wait(job.id, seconds=0.6)
        assert (waited.met, waited.facts.state) == (False, "running")
        (here.workspace / "go").touch()
        facts = (await here.jobs.wait(job.id, seconds=10)).facts
        assert (facts.state, facts.exit_code, here.jobs.tail(job.id)) == ("exited", 4, "late\n")
        held = await here.jobs.start("(trap '' TERM; while :; do sleep 60; done) & exit 4")
        await asyncio.sleep(0.5)
        assert (await here.jobs.kill(held.id, grace=0.1)).killed_by == "user"
        await until_empty(here.workspace)


@pytest.mark.req("SPEC-BASH-08")
@each()
async def test_what_outlives_its_leader_is_taken_over(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        text = (
            "(until [ -e go ]; do sleep 0.01; done; echo late; echo err >&2) & echo early;"
            " setsid sleep 61 >/dev/null 2>&1 & touch begun"
        )
        left = await left_by(here, text)
        job = await here.jobs.adopt(left, text, str(here.workspace))
        assert job is not None
        assert (job.state, job.pid, job.byte_count, job.command) == ("running", None, 6, text)
        (here.workspace / "go").touch()
        facts = (await here.jobs.wait(job.id, seconds=10)).facts
        assert (facts.state, facts.exit_code, facts.byte_count) == ("exited", None, 15)
        assert (here.jobs.tail(job.id), facts.log_path is not None) == ("late\nerr\n", True)
        assert Path(str(facts.log_path)).read_text("utf-8") == "late\nerr\n"
        await until_empty(here.workspace)


@each("landlock")
async def test_what_was_taken_over_can_be_ended(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        left = await left_by(here, "(echo x; exec sleep 60) & sleep 0.1")
        job = await here.jobs.adopt(left, "x", "/")
        assert job is not None
        ended = await here.jobs.kill(job.id)
        assert (ended.state, ended.killed_by) == ("killed", "user")
        await until_empty(here.workspace)


@each("namespaces", "bubblewrap")
@pytest.mark.parametrize("deaf", [False, True])
async def test_what_ends_only_by_force_is_told(
    tmp_path: Path, kind: Confinement, *, deaf: bool
) -> None:
    trap = "trap '' TERM; " if deaf else ""
    async with session(tmp_path, kind) as here:
        left = await left_by(here, f"({trap}touch up; while :; do sleep 0.05; done) & true")
        adopted = await here.jobs.adopt(left, "left", str(here.workspace))
        assert adopted is not None
        await until(lambda: (here.workspace / "up").exists())
        ended = await here.jobs.kill(adopted.id, grace=0.3 if deaf else 10.0)
        assert (ended.killed_by, ended.forced) == ("user", deaf)


@each("landlock")
async def test_so_many_run_and_so_many_are_remembered(
    tmp_path: Path, kind: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_module, "MOST_RUNNING", 2)
    monkeypatch.setattr(jobs_module, "MOST_FINISHED", 2)
    monkeypatch.setattr(past_jobs, "MOST_PAST", 2)
    async with session(tmp_path, kind) as here:
        ended: list[str] = []
        for _ in range(6):
            job = await here.jobs.start("true")
            await here.jobs.wait(job.id, seconds=10)
            ended.append(job.id)
        # Two of the past, two finished ones; the last one had not ended when it was added.
        assert [one.id for one in here.jobs.all()] == ended[1:]
        left = await left_by(here, "sleep 60 & true")
        running = [await here.jobs.start("sleep 60") for _ in range(2)]
        assert [one.id for one in here.jobs.all() if one.state == "running"] == [
            one.id for one in running
        ]
        with pytest.raises(OperationFailed, match="2 background jobs are running"):
            await here.jobs.start("true")
        assert await here.jobs.adopt(left, "sleep", str(here.workspace)) is None
        await until(lambda: len(running_in(here.workspace)) == 2)
        await here.jobs.kill(running[0].id)
        assert (await here.jobs.start("true")).state == "running"


@each("landlock")
async def test_one_of_the_past_is_known_by_how_it_ended_and_by_its_log(
    tmp_path: Path, kind: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_module, "MOST_FINISHED", 0)
    async with session(tmp_path, kind) as here:
        everything = AllJobs()
        everything.include(here.jobs)
        long = ": " + "x" * 5_000
        first = await here.jobs.start(f"printf '%s\\n' ä b c; exit 3; {long}")
        before = (await here.jobs.wait(first.id, seconds=10)).facts
        await here.jobs.start("sleep 60")
        past = everything.poll(first.id)
        assert past == msgspec.structs.replace(before, command=past.command)
        assert (past.state, past.exit_code, len(past.command)) == ("exited", 3, 1_000)
        assert everything.all()[0] == past
        assert await everything.kill(first.id) == past
        waited = await everything.wait(first.id, seconds=60)
        assert (waited.met, waited.facts) == (True, past)
        assert not (await everything.wait(first.id, seconds=60, port=80)).met
        assert past.log_path is not None
        with pytest.raises(Unavailable, match=re.escape(past.log_path)):
            await everything.wait(first.id, seconds=60, pattern="b")
        assert [everything.tail(first.id, max_bytes=count) for count in (100, 6, 4, 0)] == [
            "ä\nb\nc\n",
            "\nb\nc\n",
            "b\nc\n",
            "",
        ]
        Path(past.log_path).unlink()
        assert everything.tail(first.id) == ""


@pytest.mark.measured
@each()
async def test_jobs_end_with_the_session(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        ids = [(await here.jobs.start("trap '' TERM; sleep 60; sleep 60")).id]
        left = await left_by(here, "sleep 60 & true")
        adopted = await here.jobs.adopt(left, "sleep", "/")
        assert adopted is not None
        await here.jobs.close()
        for job in (*ids, adopted.id):
            facts = here.jobs.poll(job)
            assert (facts.state, facts.killed_by) == ("killed", "session")
        await until_empty(here.workspace)
        await here.jobs.close()


@each()
async def test_jobs_of_a_sandbox_that_is_lost_are_lost(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        job = await here.jobs.start("echo x; touch up; sleep 60")
        left = await left_by(here, "sleep 60 & true")
        adopted = await here.jobs.adopt(left, "sleep", "/")
        assert adopted is not None
        await until(lambda: (here.workspace / "up").exists())
        os.kill(family_below((await here.sandbox.warden()).keeper)[1], signal.SIGKILL)
        for one in (job.id, adopted.id):
            facts = (await here.jobs.wait(one, seconds=10)).facts
            assert (facts.state, facts.killed_by, facts.exit_code) == ("killed", "lost", None)
        assert here.jobs.tail(job.id) == "x\n"
        assert (await here.jobs.start("true")).state == "running"


@each("landlock")
async def test_logs_are_scrubbed_and_bounded(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind, scrubber=TakesOutX, log_bytes=100_000) as here:
        job = await here.jobs.start("yes xa | head -c 600000; echo end")
        facts = (await here.jobs.wait(job.id, seconds=10)).facts
        log = Path(str(facts.log_path)).read_bytes()
        assert (len(log), b"x" in log, facts.byte_count) == (100_000, False, 400_004)
        assert here.jobs.tail(job.id, max_bytes=8) == "a\na\nend\n"
        assert len(here.jobs.tail(job.id, max_bytes=1 << 30)) == 65_536
        assert here.jobs.tail(job.id, max_bytes=0) == ""


@pytest.mark.measured
@each("landlock")
async def test_a_log_that_cannot_be_kept_stops_no_job(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        here.folder.rmdir()
        here.folder.write_text("in the way", "utf-8")
        job = await here.jobs.start("echo x")
        facts = (await here.jobs.wait(job.id, seconds=10)).facts
        assert (facts.exit_code, facts.log_path, here.jobs.tail(job.id)) == (0, None, "x\n")
        with pytest.raises(OperationFailed):
            await here.jobs.start(["no-such-program"])


@each("landlock")
async def test_the_end_is_told_in_whole_characters(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        job = await here.jobs.start("printf 'aé€😀'")
        await here.jobs.wait(job.id, seconds=10)
        ends = [here.jobs.tail(job.id, max_bytes=size) for size in range(11)]
        assert ends == ["", "", "", "", *["😀"] * 3, "€😀", "€😀", "é€😀", "aé€😀"]


@each("landlock")
async def test_a_session_knows_no_job_but_those_of_its_sandboxes(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        everywhere = AllJobs()
        everywhere.include(here.jobs)
        job = (await here.jobs.start("sleep 60")).id
        assert [facts.id for facts in everywhere.all()] == [job]
        assert everywhere.poll(job).state == "running"
        assert not (await everywhere.wait(job, seconds=0)).met
        with pytest.raises(InvalidArguments, match="there is no job 'job_other'") as refused:
            everywhere.poll("job_other")
        assert refused.value.field == "job"
        everywhere.forget()
        assert everywhere.all() == ()
        with pytest.raises(InvalidArguments):
            everywhere.tail(job)
