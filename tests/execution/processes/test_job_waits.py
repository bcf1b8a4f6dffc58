"""Waiting for a port or for a line of the log."""

import asyncio
import os
import signal
import socket
import sys
import time
from pathlib import Path

import msgspec
import pytest
from execution.processes.ground import each, policy_of
from execution.processes.session import session
from execution.processes.shell_kit import family_below, until
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.errors import InvalidArguments, SandboxNotRunning, Unavailable
from holdfast.contract.shell import Confinement
from holdfast.execution.processes import listening, log_search
from holdfast.execution.processes.listening import is_listened_on, tables_of_this_machine

SERVER = (
    "import socket, sys, time; time.sleep(0.2);"
    " s = socket.create_server((sys.argv[2], int(sys.argv[1])), family={family});"
    " time.sleep(60)"
)


def server(port: int, host: str = "127.0.0.1") -> list[str]:
    family = "socket.AF_INET6" if ":" in host else "socket.AF_INET"
    return [sys.executable, "-c", SERVER.format(family=family), str(port), host]


@each("namespaces", "bubblewrap")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "0.0.0.0"])
async def test_a_port_is_waited_for_inside_of_the_sandbox(
    tmp_path: Path, kind: Confinement, host: str
) -> None:
    async with session(tmp_path, kind) as here:
        job = await here.jobs.start(server(8123, host))
        early = await here.jobs.wait(job.id, seconds=0, port=8123)
        assert (early.met, early.facts.state) == (False, "running")
        waited = await here.jobs.wait(job.id, seconds=15, port=8123)
        assert (waited.met, waited.facts.state, waited.matched) == (True, "running", None)
        assert not (await here.jobs.wait(job.id, seconds=0.15, port=8124)).met


@pytest.mark.measured
@each("namespaces")
async def test_a_job_that_ended_is_not_waited_for(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        job = await here.jobs.start("exit 3")
        waited = await here.jobs.wait(job.id, seconds=60, port=8123)
        assert (waited.met, waited.facts.exit_code) == (False, 3)


@each("landlock")
async def test_where_nothing_can_listen_it_is_said(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        job = await here.jobs.start("sleep 60")
        with pytest.raises(Unavailable, match="they have no network at all"):
            await here.jobs.wait(job.id, seconds=60, port=80)


@each("landlock", "unconfined")
async def test_with_the_machines_own_network_its_tables_are_read(
    tmp_path: Path, kind: Confinement
) -> None:
    policy = policy_of((tmp_path / "workspace").resolve())
    policy = msgspec.structs.replace(policy, network="open")
    async with session(tmp_path, kind, policy) as here:
        job = await here.jobs.start("sleep 60")
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            assert (await here.jobs.wait(job.id, seconds=10, port=port)).met
        assert not (await here.jobs.wait(job.id, seconds=0, port=port)).met


@each()
async def test_a_line_is_waited_for_and_given(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        text = "echo one; until [ -e go ]; do sleep 0.01; done; echo ready on 81 >&2; sleep 60"
        job = await here.jobs.start(text)
        assert (await here.jobs.wait(job.id, seconds=10, pattern="^on.$")).matched == "one"
        waiting = asyncio.create_task(here.jobs.wait(job.id, seconds=15, pattern=r"ready on (\d+)"))
        await asyncio.sleep(0.2)
        (here.workspace / "go").touch()
        waited = await waiting
        assert (waited.met, waited.matched, waited.facts.state) == (True, "ready on 81", "running")
        missing = await here.jobs.wait(job.id, seconds=0, pattern="never")
        assert (missing.met, missing.matched) == (False, None)


@each("landlock")
async def test_the_log_of_a_job_that_has_ended_is_searched(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        job = await here.jobs.start("printf 'a\\nlast é'")
        await here.jobs.wait(job.id, seconds=10)
        assert (await here.jobs.wait(job.id, seconds=9, pattern="last .$")).matched == "last é"
        begun = time.monotonic()
        missing = await here.jobs.wait(job.id, seconds=60, pattern="never")
        assert (missing.met, time.monotonic() - begun < 30) == (False, True)
        ends = await here.jobs.start("sleep 0.3; echo done")
        assert not (await here.jobs.wait(ends.id, seconds=60, pattern="never")).met


@each("landlock")
async def test_long_lines_and_much_output_are_searched(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        long = "head -c 5000 /dev/zero | tr '\\0' x; echo y"
        text = f"{long}; yes | head -c 5000000; echo found; sleep 60"
        job = await here.jobs.start(text)
        waited = await here.jobs.wait(job.id, seconds=15, pattern="^found$")
        assert waited.matched == "found"
        line = (await here.jobs.wait(job.id, seconds=15, pattern="^x+$")).matched
        assert line == "x" * log_search.MOST_LINE


@pytest.mark.measured
@each("landlock")
async def test_a_pattern_that_never_ends_stops_nothing(
    tmp_path: Path, kind: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_search, "CPU_SECONDS", 1)
    async with session(tmp_path, kind) as here:
        job = await here.jobs.start(f"echo {'a' * 60}; sleep 60")
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0.01)

        beating = asyncio.create_task(beat())
        with pytest.raises(InvalidArguments, match="takes too long"):
            await here.jobs.wait(job.id, seconds=60, pattern="(a+)+$b")
        beating.cancel()
        assert beats > 20


@pytest.mark.parametrize("pattern", ["(", "a" * 2000, "(" * 500 + ")" * 500, "a{99999999999}"])
async def test_what_is_no_pattern_is_refused(tmp_path: Path, pattern: str) -> None:
    async with session(tmp_path, "unconfined") as here:
        job = await here.jobs.start("sleep 60")
        with pytest.raises(InvalidArguments) as refused:
            await here.jobs.wait(job.id, seconds=1, pattern=pattern)
        assert refused.value.field == "pattern"
        with pytest.raises(InvalidArguments, match="not for both"):
            await here.jobs.wait(job.id, seconds=1, pattern="a", port=1)


async def test_without_a_log_there_is_nothing_to_search(tmp_path: Path) -> None:
    async with session(tmp_path, "unconfined") as here:
        here.folder.rmdir()
        here.folder.write_text("in the way", "utf-8")
        job = await here.jobs.start("sleep 60")
        with pytest.raises(Unavailable, match="there is no log"):
            await here.jobs.wait(job.id, seconds=1, pattern="x")
        here.folder.unlink()
        other = await here.jobs.start("sleep 60")
        Path(str(other.log_path)).unlink()
        with pytest.raises(Unavailable, match="cannot be searched"):
            await here.jobs.wait(other.id, seconds=1, pattern="x")


@pytest.mark.measured
async def test_an_interpreter_that_cannot_be_started_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with session(tmp_path, "unconfined") as here:
        job = await here.jobs.start("sleep 60")
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        with pytest.raises(Unavailable, match="cannot be searched"):
            await here.jobs.wait(job.id, seconds=1, pattern="x")


@each("unconfined")
async def test_a_sandbox_that_is_lost_while_searching_is_told(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        job = await here.jobs.start("touch up; sleep 60")
        await until(lambda: (here.workspace / "up").exists())
        waiting = asyncio.create_task(here.jobs.wait(job.id, seconds=60, pattern="x"))
        await asyncio.sleep(0.3)
        os.kill(family_below((await here.sandbox.warden()).keeper)[1], signal.SIGKILL)
        with pytest.raises(SandboxNotRunning):
            await waiting
        await here.sandbox.close()
        with pytest.raises(SandboxNotRunning, match="no sandbox to look into"):
            await here.jobs.wait(job.id, seconds=1, pattern="x")


HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n"
ROWS = st.lists(st.tuples(st.integers(0, 65535), st.sampled_from(["0A", "01", "06"])), max_size=6)


@given(ROWS, st.integers(0, 65535))
def test_ports_are_read_from_the_tables(rows: list[tuple[int, str]], port: int) -> None:
    lines = [f"   0: 0100007F:{number:04X} 00000000:0000 {state} 0:0 0" for number, state in rows]
    wanted = any(number == port and state == "0A" for number, state in rows)
    assert is_listened_on(HEADER + "\n".join(lines), port) == wanted


@given(st.text(max_size=80))
def test_no_text_of_a_table_is_too_strange(text: str) -> None:
    assert not is_listened_on(f"{text}\n0: x 1 0A", 70_000)


def test_a_machine_without_tables_has_no_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "TABLES", ("/nowhere",))
    assert tables_of_this_machine() == ""


@each("unconfined")
async def test_a_search_that_is_over_is_told_no_more(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        warden = await here.sandbox.warden()
        search = log_search.LogSearch(warden, warden.spawner())
        await search.close()
        search.look_again()
