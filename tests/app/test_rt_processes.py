"""Jobs, the persistent shell and the commands that run, through the whole way of a call."""

import os
from pathlib import Path
from typing import cast

import anyio
import pytest
from interrupts import until

from holdfast import Holdfast, Runtime, tool
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.envelope import Envelope
from holdfast.contract.errors import Unavailable
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonValue, plain
from holdfast.contract.shell import CommandReport
from holdfast.execution.processes import appearances
from holdfast.execution.processes.jobs import SessionJobs

EVERYTHING = {"fs": {"read": ["**"], "write": ["**"]}, "shell": [{"cmd": "*"}]}
REPORTS: list[CommandReport] = []


@tool(requires=EVERYTHING)
async def run(rt: Runtime, command: str) -> JsonValue:
    """Run a command."""
    report = await rt.shell.run(command)
    REPORTS.append(report)
    return {"exit_code": report.exit_code, "job": report.job, "killed_by": report.killed_by}


@tool(requires=EVERYTHING)
async def job(rt: Runtime, command: str, cwd: str | None = None) -> JsonValue:
    """Start a job."""
    return plain(await rt.shell.jobs.start(command, cwd=cwd))


@tool(requires=EVERYTHING)
async def wait(rt: Runtime, job: str, pattern: str | None = None) -> JsonValue:
    """Wait for a job."""
    return plain(await rt.shell.jobs.wait(job, seconds=10, pattern=pattern))


@tool(requires=EVERYTHING)
async def go_on(rt: Runtime, command: str) -> JsonValue:
    """Run a command in the persistent shell."""
    ended = await rt.shell.persistent.run(command)
    REPORTS.append(ended.report)
    return {"stdout": ended.report.stdout.text(), "cwd": ended.facts.cwd}


@tool(requires={"shell": [{"cmd": "*"}]})
async def anywhere(rt: Runtime, command: str) -> JsonValue:
    """Run a command without files."""
    ended = await rt.shell.persistent.run(command)
    return {"stdout": ended.report.stdout.text(), "cwd": ended.facts.cwd}


class Place:
    def __init__(self, tmp_path: Path) -> None:
        self.workspace, self.home = tmp_path / "workspace", tmp_path / "own"
        for folder in (self.workspace, self.home):
            folder.mkdir()

    def opened(self, *tools: object) -> Holdfast:
        return Holdfast(
            tools=[*(tools or (run, job, wait, go_on))],
            workspace=self.workspace,
            settings=Settings(),
            surroundings=Surroundings(
                data_home=self.home, environment={"PATH": os.defpath, "HOME": "/nowhere"}
            ),
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def facts(envelope: Envelope) -> dict[str, JsonValue]:
    assert envelope.ok, envelope.failure
    return cast("dict[str, JsonValue]", envelope.result)


async def test_a_job_survives_its_call_and_dies_with_the_session(place: Place) -> None:
    async with place.opened() as hf:
        begun = facts(await hf.settle("job", {"command": "echo ready; echo $$ >pid; sleep 60"}))
        assert begun["state"] == "running"
        met = facts(await hf.settle("wait", {"job": begun["id"], "pattern": "rea.y"}))
        assert (met["met"], met["matched"]) == (True, "ready")
        alive = facts(await hf.settle("run", {"command": "kill -0 $(cat pid)"}))
        assert alive["exit_code"] in (0, 1)  # another call's process may be out of its reach
        (shown,) = [one for one in hf.commands.all() if one.kind == "job"]
        assert (shown.state, shown.stdout_tail) == ("running", "ready\n")
    assert not (place.home / "sessions").exists() or not list((place.home / "sessions").iterdir())


async def test_a_job_begins_within_reach_or_not_at_all(place: Place) -> None:
    async with place.opened() as hf:
        failure = (await hf.settle("job", {"command": "true", "cwd": "/srv"})).failure
        assert failure is not None
        assert (failure.kind, failure.extras["target"]) == (FailureKind.REJECTED, "/srv")


async def test_a_child_that_holds_the_output_becomes_a_job(place: Place) -> None:
    async with place.opened() as hf:
        told = facts(await hf.settle("run", {"command": "(sleep 0.5; echo late) & echo early"}))
        assert told["exit_code"] == 0
        ended = facts(await hf.settle("wait", {"job": told["job"]}))
        assert cast("dict[str, JsonValue]", ended["facts"])["state"] == "exited"


async def test_the_shell_goes_on_from_call_to_call(place: Place) -> None:
    (place.workspace / "sub").mkdir()
    async with place.opened() as hf:
        await hf.settle("go_on", {"command": "cd sub; export GREETING=hello"})
        told = facts(await hf.settle("go_on", {"command": "echo $GREETING from $PWD"}))
        assert told["stdout"] == f"hello from {place.workspace}/sub\n"
        REPORTS.clear()
        await hf.settle("go_on", {"command": "mkdir -p ../.git/hooks; cat /etc/shadow"})
        targets = {one.target for one in REPORTS.pop().refusals}
        assert targets == {"/etc/shadow", str(place.workspace / ".git" / "hooks")}


@pytest.mark.req("OSA-SHL-06")
async def test_a_person_ends_a_command_and_the_result_stays_a_success(place: Place) -> None:
    async with place.opened() as hf, anyio.create_task_group() as group:
        REPORTS.clear()

        async def call() -> None:
            told = facts(await hf.settle("run", {"command": "echo part; exec sleep 60"}))
            assert (told["killed_by"], told["exit_code"]) == ("user", None)

        group.start_soon(call)
        with anyio.fail_after(10):
            while not [one for one in hf.commands.all() if one.stdout_tail]:  # noqa: ASYNC110 - as a person looks on
                await anyio.sleep(0.01)
        (shown,) = hf.commands.all()
        assert hf.commands.terminate(shown.id)
    assert REPORTS.pop().stdout.text() == "part\n"


async def test_without_a_sandbox_neither_jobs_nor_the_shell_begin(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> str:
        return "not here"

    monkeypatch.setattr("holdfast.execution.processes.tiers._missing", missing)
    async with place.opened() as hf:
        for name in ("job", "go_on"):
            failure = (await hf.settle(name, {"command": "true"})).failure
            assert failure is not None
            assert failure.kind == FailureKind.UNAVAILABLE
            assert "bubblewrap: not here" in failure.message


async def test_what_cannot_be_closed_in_order_is_told_and_the_rest_is_closed(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(_: SessionJobs) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(SessionJobs, "close", fails)
    async with place.opened() as hf:
        await hf.settle("run", {"command": "true"})
    assert "a sandbox could not be closed in order" in caplog.text
    assert not list((place.home / "sessions").rglob("scratch"))


async def test_what_cannot_be_put_aside_at_the_end_is_told(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def stuck(path: str) -> str:
        raise Unavailable(f"{path} cannot be put aside")

    monkeypatch.setattr(appearances, "_renamed", stuck)
    async with place.opened() as hf:
        command = "mkdir -p .git && echo '[core]' > .git/config; echo made; sleep 60"
        begun = facts(await hf.settle("job", {"command": command}))
        await hf.settle("wait", {"job": begun["id"], "pattern": "made"})
    assert f"{place.workspace}/.git/config cannot be put aside" in caplog.text


async def test_without_a_workspace_commands_begin_in_their_temporary_directory(
    place: Place,
) -> None:
    hf = Holdfast(
        tools=[anywhere],
        settings=Settings(),
        surroundings=Surroundings(data_home=place.home, environment={"PATH": os.defpath}),
    )
    async with hf:
        told = facts(await hf.settle("anywhere", {"command": "pwd; echo $HOLDFAST_WORKSPACE"}))
        assert told["stdout"] == f"{told['cwd']}\n\n"


async def test_what_a_killed_runtime_left_is_removed_by_the_next(place: Place) -> None:
    dead = place.home / "sessions" / "ses_dead"
    (dead / "scratch" / "0" / "tmp").mkdir(parents=True)
    async with place.opened() as hf:
        await hf.settle("run", {"command": "true"})
        with anyio.fail_after(10):
            while dead.exists():  # noqa: ASYNC110 - a folder tells nobody
                await anyio.sleep(0.01)
        assert (place.home / "sessions" / hf.session_id / "scratch").exists()


async def test_a_granted_file_that_is_made_later_is_shown_and_no_shell_is_left_for_it(
    place: Place,
) -> None:
    needs = {
        "fs": {"read": ["**"], "write": ["later.txt"]},
        "shell": [{"cmd": "*"}],
    }

    @tool(requires=needs)
    async def once(rt: Runtime) -> int | None:
        """Write it."""
        report = await rt.shell.run("echo x >> later.txt")
        REPORTS.append(report)
        return report.exit_code

    @tool(requires=needs)
    async def shell(rt: Runtime, command: str) -> str:
        """Run it in the persistent shell."""
        return (await rt.shell.persistent.run(command)).report.stdout.text()

    async with place.opened(once, shell) as hf:
        assert (await hf.settle("once", {})).result != 0
        (place.workspace / "later.txt").touch()
        assert (await hf.settle("once", {})).result == 0
        (place.workspace / "later.txt").unlink()
    async with place.opened(once, shell) as hf:
        waits = "kept=here; until [ -e go ]; do sleep 0.05; done"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hf.settle, "shell", {"command": waits})
            with anyio.fail_after(15):
                await until(lambda: any(one.state == "running" for one in hf.commands.all()))
            (place.workspace / "later.txt").touch()
            assert (await hf.settle("once", {})).result != 0
            (place.workspace / "go").touch()
        (refusal,) = REPORTS[-1].refusals
        assert "only if it was there before" in refusal.reason
        assert (await hf.settle("shell", {"command": "echo $kept"})).result == {"text": "here\n"}
