"""Wardens: nothing outlives the runtime, whoever is killed and when; nothing leaks."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from execution.processes.ground import (
    Ground,
    each,
    family_of,
    opened,
    running_in,
    stop,
    until_empty,
)

from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.kernel import landlock
from holdfast.execution.processes.command import Limits
from holdfast.execution.processes.confinement import Scratch
from holdfast.execution.processes.spawners import SandboxLost, SandboxUnavailable
from holdfast.execution.processes.tiers import STRONGEST_FIRST, start_in
from holdfast.execution.processes.wardens import start_warden

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


def _started(code: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", code])


async def kill_at_random_moments(tmp_path: Path, kind: str, seed: int, rounds: int) -> None:
    """Kill a busy runtime again and again; nothing it started is left."""
    moments = random.Random(f"{kind} {seed}")
    for round_ in range(rounds):
        folder = tmp_path / str(round_)
        folder.mkdir()
        code = VICTIM.format(tests=str(TESTS), folder=str(folder), kind=kind)
        with _started(code) as runtime:
            workspace = folder.resolve() / "workspace"
            if round_ % 2:
                while not (workspace / "begun").exists():
                    await asyncio.sleep(0.005)
            await asyncio.sleep(moments.random() * 0.2)
            runtime.kill()
        await until_empty(workspace)


@each()
async def test_nothing_outlives_a_runtime_that_is_killed(tmp_path: Path, kind: str) -> None:
    await kill_at_random_moments(tmp_path, kind, 1, ROUNDS)


@each()
async def test_a_warden_that_is_killed_takes_everything_along(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        running = asyncio.create_task(ground.run("touch begun; setsid sleep 60 & sleep 60"))
        while not (ground.workspace / "begun").exists():
            await asyncio.sleep(0.005)
        # With namespaces this is the first process in them; without, the one below the keeper.
        os.kill(family_of(ground)[1], signal.SIGKILL)
        report = await running
        assert (report.ended, report.killed_by) == (None, "lost")
        await until_empty(ground.workspace)
        assert ground.warden.lost


@pytest.mark.measured
@each()
async def test_a_lease_that_runs_out_ends_all(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        running = asyncio.create_task(ground.run("touch begun; setsid sleep 60 & sleep 60"))
        while not (ground.workspace / "begun").exists():
            await asyncio.sleep(0.005)
        ground.warden.live_until(time.monotonic() + 30)
        ground.warden.live_until(time.monotonic() + 0.05)
        assert (await running).killed_by == "lost"
        await until_empty(ground.workspace)


@each()
async def test_many_commands_leave_no_files_and_nothreads_of(tmp_path: Path, kind: str) -> None:
    async def many() -> None:
        await asyncio.gather(*(ground.run("true") for _ in range(12)))
        for _ in range(60):
            await ground.run("true")

    async with opened(tmp_path, kind) as ground:
        await many()
        await asyncio.sleep(0.5)  # those that were let go take their leave
        files, threads = open_files(ground), threads_of(ground)
        for _ in range(2):
            await many()
        while open_files(ground) > files or threads_of(ground) > threads:
            await asyncio.sleep(0.05)


def open_files(ground: Ground) -> int:
    family = [os.getpid(), *family_of(ground)]
    # Who is unreadable still says how many there are.
    return sum(Path(f"/proc/{pid}/fd").stat().st_size for pid in family)


def threads_of(ground: Ground) -> int:
    return sum(len(list(Path(f"/proc/{pid}/task").iterdir())) for pid in family_of(ground))


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


@pytest.mark.measured
@each("landlock")
async def test_a_command_larger_than_a_packet_is_started(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        words = ["x" * 60_000] * 8
        report = await ground.run_argv(["bash", "-c", 'printf %s "$*" | wc -c', "-", *words])
        assert report.captured.stdout.head == b"480007\n"
        too_long = await ground.run_argv(["true", "x" * 200_000], Limits(wall=5))
        assert "too long" in str(too_long.unstarted)


@each("unconfined")
async def test_a_line_that_is_gone_is_noticed_by_sending(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        spawner = ground.warden.spawner()
        await spawner.end()  # it answers when it is there
        own = family_of(ground)[2]
        os.kill(own, signal.SIGKILL)
        while Path(f"/proc/{own}").exists():
            time.sleep(0.005)  # noqa: ASYNC251 - the loop must not hear of it first
        spawner.signal(0)
        assert spawner.lost


async def test_without_landlock_there_is_no_such_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    with pytest.raises(SandboxUnavailable, match="has no Landlock"):
        await start_in(STRONGEST_FIRST[2], SandboxPolicy(), _scratch(tmp_path))


async def test_a_helper_that_cannot_be_started_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper = tmp_path / "bwrap"
    helper.write_text("#!/nonexistent/interpreter\n", "utf-8")
    helper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SandboxUnavailable, match="cannot be started"):
        await start_in(STRONGEST_FIRST[1], SandboxPolicy(), _scratch(tmp_path))


@each("namespaces")
async def test_a_view_that_cannot_be_built_says_why(tmp_path: Path, kind: str) -> None:
    nowhere = Scratch(str(tmp_path / "none"), str(tmp_path), str(tmp_path / "home"))
    with pytest.raises(SandboxUnavailable, match="mount: No such file"):
        await start_in(STRONGEST_FIRST[0], SandboxPolicy(), nowhere)
    assert kind == "namespaces"


@each("namespaces", "bubblewrap")
async def test_who_is_granted_hosts_gets_a_door_that_the_runtime_opens(
    tmp_path: Path, kind: str
) -> None:
    workspace = str(tmp_path.resolve() / "workspace")
    policy = SandboxPolicy(network="hosts", hosts=(("example.com",),), readable=(workspace,))
    async with opened(tmp_path, kind, policy) as ground:
        listener = ground.warden.listener
        assert listener is not None
        port = listener.getsockname()[1]
        ask = f"exec 3<>/dev/tcp/127.0.0.1/{port}; echo hello >&3; cat <&3"
        asking = asyncio.create_task(ground.run_argv(["bash", "-c", ask], Limits(wall=10)))
        listener.settimeout(10)
        asked, _ = await asyncio.to_thread(listener.accept)
        with asked:
            assert await asyncio.to_thread(asked.recv, 100) == b"hello\n"
            asked.sendall(b"answer")
        assert (await asking).captured.stdout.head == b"answer"


HELD = """
import asyncio, os, sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from execution.processes import measured
from execution.processes.ground import opened
from holdfast.execution.processes import wardens

if measured.runs():
    wardens.BOOT = measured.boot(wardens.BOOT)

async def main():
    async with opened(Path({folder!r}), "landlock") as ground:
        running = asyncio.create_task(ground.run("touch begun; setsid sleep 60 & sleep 60"))
        while not (ground.workspace / "begun").exists():
            await asyncio.sleep(0.005)
        holder = os.fork()  # with a copy of every line there is
        if not holder:
            time.sleep(60)
            os._exit(0)
        Path({folder!r}, "part").write_text(str(holder))
        Path({folder!r}, "part").rename(Path({folder!r}, "holder"))
        await running

asyncio.run(main())
"""


@pytest.mark.measured
async def test_a_copy_of_the_line_in_other_hands_keeps_nothing_alive(tmp_path: Path) -> None:
    workspace = tmp_path.resolve() / "workspace"
    with _started(HELD.format(tests=str(TESTS), folder=str(tmp_path))) as runtime:
        while not (tmp_path / "holder").exists():
            await asyncio.sleep(0.005)
        assert running_in(workspace)
        runtime.kill()
    try:
        await until_empty(workspace)
    finally:
        os.kill(int((tmp_path / "holder").read_text("utf-8")), signal.SIGKILL)


@pytest.mark.measured
@each("namespaces")
async def test_a_super_user_without_the_right_to_namespaces_is_told(kind: str) -> None:
    def without(argv: list[str]) -> list[str]:
        return ["setpriv", "--bounding-set=-sys_admin", *argv]

    with pytest.raises(SandboxUnavailable, match="unshare: Operation not permitted"):
        await start_warden({"view": [("private", "/x", "")]}, without)
    assert kind == "namespaces"


@each("unconfined")
async def test_a_warden_that_died_over_a_message_is_lost(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        keeper, own = family_of(ground)[:2]
        while not hears_of_children(keeper):  # before that it may still hold the warden's line
            await asyncio.sleep(0.005)
        os.kill(keeper, signal.SIGSTOP)
        os.kill(own, signal.SIGSTOP)
        ground.warden.live_until(time.monotonic() + 60)
        assert not ground.warden.lost
        os.kill(own, signal.SIGKILL)
        while not ground.warden.lost:
            await asyncio.sleep(0.005)
        os.kill(keeper, signal.SIGCONT)


def hears_of_children(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) & 1 << (signal.SIGCHLD - 1))


async def test_a_keeper_ends_a_warden_that_was_stopped(tmp_path: Path) -> None:
    async with opened(tmp_path, "landlock") as ground:
        family = family_of(ground)
        await stop(family[1:])
        await ground.warden.close()
        assert not any(Path(f"/proc/{pid}").exists() for pid in family)


@each("landlock")
async def test_a_spawner_that_was_let_go_does_nothing(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        spawner = ground.warden.spawner()
        spawner.close()
        with pytest.raises(SandboxLost):
            await spawner.end()


@each("landlock")
async def test_a_spawner_is_used_again_before_another_is_opened(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        first, beside = ground.warden.spawner(), ground.warden.spawner()
        assert first is not beside
        for spawner in (first, beside):
            await ground.warden.give_back(spawner)
        assert ground.warden.spawner() is beside, "the one used last"
        assert ground.warden.spawner() is first
