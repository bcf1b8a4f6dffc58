"""Where another machine could run a session, its processes end before its lease does."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio
import pytest
from agents_at_work import at_work, calls
from interrupts import until
from this_tree import this_tree

from holdfast import Runtime, tool
from holdfast.app.agent_settings import EngineSettings
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.app.store import open_store
from holdfast.app.tenures import ending_seconds
from holdfast.contract.agents import Agent
from holdfast.contract.journal import LeaseHeld
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio
PROGRAM = Path(__file__).with_name("leased.py")
LEASE_SECONDS = 5.0
PATIENCE = 18.0
EVERYTHING = {"fs": {"read": ["**"], "write": ["**"]}, "shell": [{"cmd": "*"}]}


def running(mark: str) -> list[int]:
    """The processes whose command line has the mark."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes().split(b"\0")
            if words[:1] == [b"sleep"] and mark.encode() in words:
                found.append(int(path.parent.name))
    return found


@contextmanager
def leased(folder: Path, url: str, mark: str) -> Generator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), str(folder), url, str(LEASE_SECONDS), mark],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=this_tree(dict(os.environ)),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


@pytest.mark.measured
async def test_of_a_runtime_that_stands_still_no_process_is_left_when_its_lease_ends(
    tmp_path: Path, postgres_url: str
) -> None:
    mark = f"{600 + os.getpid() / 1e7:.7f}"
    settings = Settings(store=StoreSettings(kind="postgres", url=postgres_url))
    around = Surroundings(data_home=tmp_path / "data", state_home=tmp_path / "state")
    with leased(tmp_path, postgres_url, mark) as process, anyio.fail_after(PATIENCE):
        assert process.stdout is not None
        session_id = process.stdout.readline().strip()
        assert session_id.startswith("ses_"), process.communicate()[1]
        await until(lambda: len(running(mark)) == 2)
        clock = SystemClock()
        journal = open_store(settings, around, clock, TimeIds(clock)).journal
        process.send_signal(signal.SIGSTOP)
        try:
            while True:
                try:
                    other = await journal.lease(session_id, "another machine", 60)
                except LeaseHeld:
                    await anyio.sleep(0.01)
                else:
                    break
            assert running(mark) == []
        finally:
            process.send_signal(signal.SIGCONT)
        out, err = await anyio.to_thread.run_sync(lambda: process.communicate(timeout=PATIENCE))
        assert out.split() == ["StaleEpoch", "after", "1"], err
        assert running(mark) == []
        assert (await journal.session(session_id)).lease == other
        kinds = [one.type for one in await journal.events(session_id)]
        assert kinds[-1] == "call.intended"  # nothing of it came behind the other's lease
        await journal.close()


@tool(requires=EVERYTHING)
async def leave(rt: Runtime, command: str) -> str:
    """Run a command that goes on."""
    return (await rt.shell.jobs.start(command)).state


async def test_between_runs_a_session_is_kept_as_long_as_its_processes_run(
    tmp_path: Path, postgres_url: str
) -> None:
    settings = Settings(
        store=StoreSettings(kind="postgres", url=postgres_url),
        engine=EngineSettings(lease_seconds=1, heartbeat_seconds=0.1),
    )
    async with at_work(
        tmp_path,
        [calls(("leave", '{"command": "sleep 600"}')), "done"],
        settings=settings,
        tools=[leave],
        agent=Agent(id="coder"),
        workspace=tmp_path,
    ) as desk:
        await desk.told("Leave something.")
        log = desk.holdfast.parts.log
        assert log is not None
        journal = await log.journal()

        async def until_micros() -> int:
            lease = (await journal.session(desk.session.id)).lease
            assert lease is not None
            return lease.until_micros

        first = await until_micros()
        with anyio.fail_after(PATIENCE):
            while await until_micros() < first + 2_000_000:  # noqa: ASYNC110 - it is renewed elsewhere
                await anyio.sleep(0.05)
        (job,) = desk.holdfast.commands.all()
        assert job.state == "running"


async def test_by_another_clock_than_the_machines_nothing_is_ended(
    tmp_path: Path, postgres_url: str
) -> None:
    settings = Settings(store=StoreSettings(kind="postgres", url=postgres_url))
    async with at_work(tmp_path, ["done"], settings=settings, clock=FakeClock()) as desk:
        await desk.told("Say something.")
        log = desk.holdfast.parts.log
        assert log is not None
        assert log.right.kept is None


def test_there_is_time_to_end_everything() -> None:
    assert ending_seconds(15) == 2.0
    assert ending_seconds(1) == 0.2
