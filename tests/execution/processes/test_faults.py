"""Commands that take all there is: bounded in number, memory, time and size; the next one runs."""

import asyncio
import os
from pathlib import Path

import msgspec
import pytest
from execution.processes.ground import Ground, each, opened, policy_of, until_empty
from execution.processes.test_command import status, text

from holdfast.contract.sandbox import SandboxLimits, SandboxPolicy
from holdfast.execution.processes.command import Limits
from holdfast.execution.processes.control_groups import make_groups

BRIEF = Limits(wall=1.5, grace=0.2)
FEW = 40
LITTLE = 96 * 1024 * 1024

TAME = f"""
import os, time
begun = 0
for _ in range({FEW * 5}):
    try:
        child = os.fork()
    except OSError:
        break
    if not child:
        time.sleep(60)
    begun += 1
print(begun, flush=True)
"""
"""Starts no more than five times as many as it may: it proves the limit before a bomb is lit."""
BOMB = "exec 2>/dev/null; bomb() { bomb | bomb & }; bomb; while :; do sleep 1; done"
HOG = "import sys; kept = [bytearray(1 << 20) for _ in range(4096)]; print(len(kept))"


def limited(tmp_path: Path, limits: SandboxLimits) -> SandboxPolicy:
    workspace = tmp_path.resolve() / "workspace"
    return msgspec.structs.replace(policy_of(workspace), limits=limits)


def holds(what: str) -> bool:
    """Whether this machine lets us limit it for all processes of a sandbox together."""
    groups = make_groups(SandboxLimits(processes=FEW, memory_bytes=LITTLE))
    groups.remove()
    return what in groups.limited


async def counted(ground: Ground) -> int:
    """How many of a tame command's processes there were at once."""
    report = await ground.run_argv(["python3", "-c", TAME])
    if report.left is not None:
        await ground.warden.give_back(report.left.spawner)
        report.left.capture.close()
    return int(text(report))


@pytest.mark.measured
@each("namespaces", "bubblewrap", "landlock")
async def test_a_fork_bomb_fills_its_own_sandbox_and_no_more(tmp_path: Path, kind: str) -> None:
    if os.geteuid() == 0 and not holds("processes"):
        pytest.skip("no control group can be made here, and the super-user has no other limit")
    policy = limited(tmp_path, SandboxLimits(processes=FEW))
    async with opened(tmp_path, kind, policy) as ground:
        assert FEW // 2 < await counted(ground) < FEW * 5
        report = await ground.run(BOMB, BRIEF)
        assert report.killed_by == "timeout"
        await until_empty(ground.workspace)
        assert text(await ground.run("echo alive")) == "alive\n"


@pytest.mark.measured
@each("namespaces", "bubblewrap", "landlock")
async def test_others_are_served_while_a_sandbox_is_full(tmp_path: Path, kind: str) -> None:
    if not holds("processes"):
        pytest.skip("no control group can be made here")
    policy = limited(tmp_path, SandboxLimits(processes=FEW))
    async with opened(tmp_path, kind, policy) as ground:
        assert FEW // 2 < await counted(ground) < FEW * 5
        bomb = asyncio.create_task(ground.run(BOMB, BRIEF))
        await asyncio.sleep(0.5)
        # Some find no room; none hangs, and the sandbox survives them all.
        await asyncio.gather(
            *(ground.run("true", BRIEF) for _ in range(20)), return_exceptions=True
        )
        assert (await bomb).killed_by == "timeout"
        await until_empty(ground.workspace)
        assert text(await ground.run("echo alive")) == "alive\n"


@each("namespaces", "landlock")
async def test_who_takes_too_much_memory_is_ended_alone(tmp_path: Path, kind: str) -> None:
    policy = limited(tmp_path, SandboxLimits(memory_bytes=LITTLE))
    async with opened(tmp_path, kind, policy) as ground:
        report = await ground.run(f"python3 -c '{HOG}'", Limits(wall=15))
        assert report.killed_by is None
        assert status(report) not in (0, None)
        assert text(await ground.run("echo alive")) == "alive\n"


@each("landlock")
async def test_memory_of_many_is_counted_together(tmp_path: Path, kind: str) -> None:
    if not holds("memory"):
        pytest.skip("no control group can be made here")
    policy = limited(tmp_path, SandboxLimits(memory_bytes=LITTLE))
    half = f"import time; kept = bytearray({LITTLE // 2}); time.sleep(60)"
    async with opened(tmp_path, kind, policy) as ground:
        each_of_them = f"python3 -c '{half}' &"
        report = await ground.run(f"{each_of_them} {each_of_them} {each_of_them} wait -n; echo $?")
        assert "137" in text(report)


@each("landlock")
async def test_a_process_has_its_own_time_and_file_size(tmp_path: Path, kind: str) -> None:
    policy = limited(tmp_path, SandboxLimits(cpu_seconds=1, file_bytes=1_000_000))
    async with opened(tmp_path, kind, policy) as ground:
        assert status(await ground.run("while :; do :; done", Limits(wall=15))) == -24
        ignoring = "trap '' XCPU; while :; do :; done"
        assert status(await ground.run(ignoring, Limits(wall=15))) == -9
        await ground.run("head -c 5000000 /dev/zero > large")
        assert (ground.workspace / "large").stat().st_size == 1_000_000


@each("namespaces", "landlock")
async def test_a_warden_cannot_be_limited_from_inside(tmp_path: Path, kind: str) -> None:
    code = (
        "import os, resource\n"
        "for pid in {1, 2, 3, os.getppid()}:\n"
        "    try: resource.prlimit(pid, resource.RLIMIT_CPU, (0, 0))\n"
        "    except OSError as problem: print(problem.strerror)\n"
    )
    async with opened(tmp_path, kind) as ground:
        report = await ground.run_argv(["python3", "-c", code])
        assert set(text(report).splitlines()) == {"Operation not permitted"}
        assert text(await ground.run("echo alive")) == "alive\n"


@each("landlock")
async def test_a_command_may_close_what_it_prints_to(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        report = await ground.run("echo first; exec 1>&- 2>&-; sleep 0.3; exit 4")
        assert (text(report), status(report), report.killed_by) == ("first\n", 4, None)
