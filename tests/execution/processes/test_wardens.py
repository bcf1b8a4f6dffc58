"""Wardens: nothing outlives the runtime, whoever is killed and when; nothing leaks."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from execution.processes.ground import Ground, each, opened

from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes.command import Limits
from holdfast.execution.processes.confinement import Scratch
from holdfast.execution.processes.spawners import SandboxLost, SandboxUnavailable
from holdfast.execution.processes.tiers import STRONGEST_FIRST, start_in

TESTS = Path(__file__).parents[2]
ROUNDS = 6
"""`make soak` runs a hundred; here a share of each."""

VICTIM = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from execution.processes.ground import opened

async def main():
    async with opened(Path({folder!r}), {kind!r}) as ground:
        busy = "(setsid sh -c 'trap \\"\\" TERM HUP; while :; do sleep 0.02; done' &);"
        await asyncio.gather(*(ground.run(busy + "touch begun; sleep 60") for _ in range(3)))

asyncio.run(main())
"""


def running_in(workspace: Path) -> list[int]:
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").readlink() == workspace:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


async def until_empty(workspace: Path) -> None:
    while running_in(workspace):
        await asyncio.sleep(0.01)


@each()
async def test_nothing_outlives_a_runtime_that_is_killed(tmp_path: Path, kind: str) -> None:
    moments = random.Random(f"{kind} 1")
    for round_ in range(ROUNDS):
        folder = tmp_path / str(round_)
        folder.mkdir()
        code = VICTIM.format(tests=str(TESTS), folder=str(folder), kind=kind)
        with subprocess.Popen([sys.executable, "-c", code]) as runtime:
            workspace = folder.resolve() / "workspace"
            if round_ % 2:
                while not (workspace / "begun").exists():
                    await asyncio.sleep(0.005)
            await asyncio.sleep(moments.random() * 0.2)
            runtime.kill()
        await until_empty(workspace)


@each()
async def test_a_warden_that_is_killed_takes_everything_along(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        running = asyncio.create_task(ground.run("touch begun; setsid sleep 60 & sleep 60"))
        while not (ground.workspace / "begun").exists():
            await asyncio.sleep(0.005)
        # With namespaces this is the first process in them; without, the one below the keeper.
        os.kill(_family(ground)[1], signal.SIGKILL)
        report = await running
        assert (report.ended, report.killed_by) == (None, "lost")
        await until_empty(ground.workspace)
        with pytest.raises(SandboxLost):
            await ground.run("true")


def _family(ground: Ground) -> list[int]:
    """The keeper and the processes below it that are no command."""
    keeper = ground.warden.keeper
    found = [keeper]
    for parent in found:
        listed = Path(f"/proc/{parent}/task/{parent}/children").read_text("ascii")
        found += [int(pid) for pid in listed.split() if _is_ours(int(pid))]
    return found


def _is_ours(pid: int) -> bool:
    return b"holdfast.execution.warden" in Path(f"/proc/{pid}/cmdline").read_bytes()


@each()
async def test_a_lease_that_runs_out_ends_all(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        running = asyncio.create_task(ground.run("touch begun; setsid sleep 60 & sleep 60"))
        while not (ground.workspace / "begun").exists():
            await asyncio.sleep(0.005)
        ground.warden.lease(30)
        ground.warden.lease(0.05)
        assert (await running).killed_by == "lost"
        await until_empty(ground.workspace)


@each()
async def test_many_commands_leave_no_files_and_no_threads(tmp_path: Path, kind: str) -> None:
    async def many() -> tuple[int, int]:
        await asyncio.gather(*(ground.run("true") for _ in range(12)))
        for _ in range(60):
            await ground.run("true")
        await asyncio.sleep(0.2)
        return _open_files(ground), _threads(ground)

    async with opened(tmp_path, kind) as ground:
        files, threads = await many()
        for _ in range(2):
            again = await many()
            assert again[0] <= files
            assert again[1] <= threads


def _open_files(ground: Ground) -> int:
    family = [os.getpid(), *_family(ground)]
    return sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in family)


def _threads(ground: Ground) -> int:
    return sum(len(list(Path(f"/proc/{pid}/task").iterdir())) for pid in _family(ground))


async def test_a_sandbox_that_cannot_be_had_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = SandboxPolicy(network="hosts", hosts=(("example.com",),))
    reasons: dict[str, str] = {}
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    for tier in STRONGEST_FIRST:
        with pytest.raises(SandboxUnavailable) as refused:
            await start_in(tier, hosts, _scratch(tmp_path))
        reasons[tier.name] = str(refused.value)
    assert "only the super-user" in reasons["namespaces"]
    assert "install the package bubblewrap" in reasons["bubblewrap"]
    assert "a network of its own" in reasons["landlock"]


@pytest.mark.parametrize("broken", ["exit 3", "echo 'no such thing' >&2; exit 1", "sleep 0"])
async def test_a_helper_that_fails_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    helper = tmp_path / "bwrap"
    helper.write_text(f"#!/bin/sh\n{broken}\n", "utf-8")
    helper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SandboxUnavailable, match=r"cannot be made: (no such|it ended)"):
        await start_in(STRONGEST_FIRST[1], SandboxPolicy(), _scratch(tmp_path))


def _scratch(folder: Path) -> Scratch:
    return Scratch(str(folder), str(folder), str(folder / "home"))


@each("landlock")
async def test_a_command_larger_than_a_packet_is_started(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        words = ["x" * 60_000] * 8
        report = await ground.run_argv(["bash", "-c", 'printf %s "$*" | wc -c', "-", *words])
        assert report.captured.stdout.head == b"480007\n"
        too_long = await ground.run_argv(["true", "x" * 200_000], Limits(wall=5))
        assert "too long" in str(too_long.unstarted)
