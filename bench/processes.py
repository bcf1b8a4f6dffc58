"""Starting confined processes and capturing what they print, against the ways a user has otherwise.

All ways take turns, round by round, in one process. A way that this machine cannot run is left out
and named.

    python bench/processes.py [--quick]      prints JSON
"""

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from time import perf_counter

import node_peers
import persistent_shell
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes.capture import Capture
from holdfast.execution.processes.command import Command, Limits, run
from holdfast.execution.processes.confinement import Scratch
from holdfast.execution.processes.spawners import SandboxUnavailable, Start
from holdfast.execution.processes.tiers import STRONGEST_FIRST, Tier, start_in
from holdfast.execution.processes.wardens import Warden
from holdfast.execution.spool import Spool, SpoolFile

TRUE = "/bin/true"
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
MEGABYTES = 100
GIGABYTE = 1 << 30
IN_A_ROW = 3
"""Each way, before it is the next one's turn: a session's commands come one after the other."""

Way = Callable[[], Awaitable[None]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        told = asyncio.run(measured(Path(folder).resolve(), 40 if quick else 300))
    print(json.dumps(told))


async def measured(folder: Path, rounds: int) -> dict[str, object]:
    async with AsyncExitStack() as opened:
        ways, missing = await all_ways(folder, opened)
        small = await timed(ways, rounds)
        weight = bytearray(GIGABYTE)
        weight[:: os.sysconf("SC_PAGE_SIZE")] = b"x" * len(range(0, GIGABYTE, 4096))
        large = await timed(heavy(ways), max(rounds // 3, 20))
        del weight
        captures = await captured(folder, 3 if rounds < 100 else 9)
        sandboxes = await opened_anew(folder, 5 if rounds < 100 else 30)
    (folder / "persistent").mkdir()
    persistent = await persistent_shell.measure(folder / "persistent", rounds=rounds)
    return {
        "persistent": persistent,
        "spawns": rows(small),
        "spawns_1gb": rows(large),
        "captures": captures,
        "sandboxes": sandboxes,
        "missing": missing,
        "load": os.getloadavg()[0],
    }


async def all_ways(folder: Path, opened: AsyncExitStack) -> tuple[dict[str, Way], list[str]]:
    workspace = folder / "workspace"
    workspace.mkdir()
    null = os.open(os.devnull, os.O_RDWR)
    opened.callback(os.close, null)
    ways: dict[str, Way] = {"os.posix_spawn + waitpid": bare, "asyncio exec + communicate": usual}
    missing: list[str] = []
    for tier in STRONGEST_FIRST:
        try:
            scratch = scratch_for(tier, folder)
            warden = await opened.enter_async_context(warden_in(tier, scratch, workspace))
        except SandboxUnavailable as problem:
            missing.append(f"{tier.name}: {problem}")
            continue
        start = Start([TRUE], str(workspace), ENVIRONMENT, [null, null, null])
        ways[f"holdfast, {tier.name}"] = spawned(warden, start)
        other = await opened.enter_async_context(warden_in(tier, scratch, workspace))
        ways[f"holdfast, {tier.name}, new spawner"] = newly_confined(other, start)
        ways[f"holdfast, {tier.name}, captured"] = commanded(warden, workspace)
    if shutil.which("bwrap"):
        ways["bwrap --unshare-all, each time"] = program(
            ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
             "--tmpfs", "/tmp", TRUE]
        )  # fmt: skip
    peer = await opened.enter_async_context(node_peers.sandbox_runtime(workspace))
    if isinstance(peer, str):
        missing.append(peer)
    else:
        ways["sandbox-runtime (npm), each time"] = peer
    return ways, missing


def heavy(ways: dict[str, Way]) -> dict[str, Way]:
    """What depends on the size of the process that asks."""
    return {name: way for name, way in ways.items() if "each time" not in name}


async def timed(ways: dict[str, Way], rounds: int) -> dict[str, list[float]]:
    samples: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        await way()
    for number in range(rounds):
        # The slow peer takes a share of the rounds: its time says enough.
        for name, way in ways.items():
            if "npm" in name and number % 20:
                continue
            for _ in range(1 if "new spawner" in name else IN_A_ROW):
                begun = perf_counter()
                await way()
                samples[name].append((perf_counter() - begun) * 1000)
    return samples


def rows(samples: dict[str, list[float]]) -> list[dict[str, object]]:
    return [
        {"way": name, "min": min(times), "median": statistics.median(times)}
        for name, times in samples.items()
    ]


async def bare() -> None:
    at_once([TRUE], {})


def at_once(argv: list[str], environment: dict[str, str]) -> None:
    """The plainest way there is; it blocks, and it is measured doing so."""
    os.waitpid(os.posix_spawnp(argv[0], argv, environment), 0)


async def usual() -> None:
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(TRUE, stdout=pipe, stderr=pipe)
    await child.communicate()


def program(argv: list[str]) -> Way:
    async def once() -> None:
        at_once(argv, ENVIRONMENT)

    return once


def spawned(warden: Warden, start: Start) -> Way:
    async def once() -> None:
        spawner = warden.spawner()
        await spawner.start(start)
        await warden.give_back(spawner)

    return once


def newly_confined(warden: Warden, start: Start) -> Way:
    async def once() -> None:
        spawner = warden.spawner()
        await spawner.start(start)
        spawner.close()

    return once


async def opened_anew(folder: Path, rounds: int) -> list[dict[str, object]]:
    """What the first command of a policy costs: a warden of its own, and then the command."""
    place = folder / "anew"
    (place / "workspace").mkdir(parents=True)
    ways: dict[str, Way] = {}
    for tier in STRONGEST_FIRST:
        way = first_of_all(tier, scratch_for(tier, place), place / "workspace")
        with suppress(SandboxUnavailable):
            await way()
            ways[f"holdfast, {tier.name}"] = way
    return rows(await timed(ways, rounds))


def first_of_all(tier: Tier, scratch: Scratch, workspace: Path) -> Way:
    async def once() -> None:
        async with warden_in(tier, scratch, workspace) as warden:
            await commanded(warden, workspace)()

    return once


def commanded(warden: Warden, workspace: Path) -> Way:
    async def once() -> None:
        await run(warden, Command([TRUE], str(workspace), ENVIRONMENT), Limits(), in_memory)

    return once


def in_memory(heard: Callable[[], None]) -> Capture:
    return Capture(Spool(lambda: None, 0), None, heard)


def scratch_for(tier: Tier, folder: Path) -> Scratch:
    places = [folder / f"{tier.name}-{name}" for name in ("root", "temporary")]
    for place in places:
        place.mkdir()
    root, temporary = map(str, places)
    return Scratch(root, temporary, f"{temporary}/home")


def policy_of(workspace: Path) -> SandboxPolicy:
    return SandboxPolicy(readable=(str(workspace),), writable=(str(workspace),))


@asynccontextmanager
async def warden_in(tier: Tier, scratch: Scratch, workspace: Path) -> AsyncIterator[Warden]:
    warden = await start_in(tier, policy_of(workspace), scratch)
    try:
        yield warden
    finally:
        await warden.close()


PRODUCER = ["dd", "if=/dev/zero", "bs=65536", f"count={MEGABYTES * 16}", "status=none"]


async def captured(folder: Path, rounds: int) -> list[dict[str, object]]:
    ways = {
        "child writes the file itself (limit)": to_file,
        "holdfast, whole output kept": kept,
        "asyncio communicate (memory)": communicated,
        "subprocess.run (memory)": ran,
    }
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    growth: dict[str, float] = {}
    for number in range(rounds + 1):
        for name, way in ways.items():
            before = resident()
            begun = perf_counter()
            await way(folder)
            seconds = perf_counter() - begun
            if number:
                speeds[name].append(MEGABYTES * 1.048576 / seconds)
            else:
                growth[name] = max(0.0, peak() - before)
    return [
        {"way": name, "max": max(of), "median": statistics.median(of), "growth_mb": growth[name]}
        for name, of in speeds.items()
    ]


def resident() -> float:
    """Resident memory in MB, and forget the peak so far."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _status("VmRSS")


def peak() -> float:
    return _status("VmHWM")


def _status(field: str) -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    return 0.0


async def to_file(folder: Path) -> None:
    with (folder / "limit").open("wb") as out:
        child = await asyncio.create_subprocess_exec(*PRODUCER, stdout=out)
        await child.wait()
    (folder / "limit").unlink()


async def kept(folder: Path) -> None:
    path = folder / "kept"

    def create() -> SpoolFile:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        return SpoolFile(str(path), handle, GIGABYTE)

    capture = Capture(Spool(create, GIGABYTE), None, lambda: None)
    pipe = capture.pipe("stdout")
    child = await asyncio.create_subprocess_exec(*PRODUCER, stdout=pipe)
    os.close(pipe)
    await capture.wait_closed(60)
    await child.wait()
    capture.close()
    if path.stat().st_size != MEGABYTES << 20:
        sys.exit("bench: output was lost")
    path.unlink()


async def communicated(_: Path) -> None:
    child = await asyncio.create_subprocess_exec(*PRODUCER, stdout=asyncio.subprocess.PIPE)
    await child.communicate()


async def ran(_: Path) -> None:
    subprocess.run(PRODUCER, stdout=subprocess.PIPE, check=True)  # noqa: ASYNC221 - it is what is measured


if __name__ == "__main__":
    main()
