"""How long the processes of a session may run: until a moment that is put off, and no longer."""

import asyncio
import time
from contextlib import suppress
from pathlib import Path

import pytest
from execution.processes.ground import Ground, each, opened, until_empty

from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.processes.tenure import Tenure

LATER = 3600.0


def since_boot() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


async def nothing() -> None:
    """Nobody puts it off."""


async def begun(ground: Ground) -> "asyncio.Task[object]":
    running = asyncio.create_task(ground.run("touch begun; setsid sleep 60 & sleep 60"))
    while not (ground.workspace / "begun").exists():
        await asyncio.sleep(0.005)
    return running


@each()
async def test_what_runs_ends_at_the_moment_and_nothing_begins_behind_it(
    tmp_path: Path, kind: str
) -> None:
    tenure = Tenure(nothing, LATER)
    async with opened(tmp_path, kind) as ground:
        tenure.include(ground.warden)
        tenure.hold(since_boot() + LATER)
        running = await begun(ground)
        tenure.hold(since_boot() + 0.05)
        await running
        await until_empty(ground.workspace)
        assert ground.warden.lost
    async with opened(tmp_path, kind) as ground:
        tenure.include(ground.warden)  # as one who stood still meanwhile would
        with suppress(SandboxUnavailable):
            await ground.run("touch after")
        assert not (ground.workspace / "after").exists()
        while not ground.warden.lost:
            await asyncio.sleep(0.005)
    await tenure.close()


@each("unconfined")
async def test_it_is_put_off_as_long_as_anything_runs(tmp_path: Path, kind: str) -> None:
    asked: list[float] = []

    async def put_off() -> None:
        asked.append(time.monotonic())
        tenure.hold(since_boot() + LATER)

    tenure = Tenure(put_off, 0.01)
    tenure.hold(since_boot() + LATER)
    async with opened(tmp_path, kind) as ground:
        tenure.include(ground.warden)
        await asyncio.sleep(0.05)
        assert asked == []
        running = await begun(ground)
        while len(asked) < 3:
            await asyncio.sleep(0.005)
        tenure.include(ground.warden)  # it is asked already
        ground.warden.live_until(0)
        await running
        while not ground.warden.lost:
            await asyncio.sleep(0.005)
        (ground.workspace / "begun").unlink()
    async with opened(tmp_path, kind) as ground:
        tenure.include(ground.warden)
        running = await begun(ground)
        before = len(asked)
        while len(asked) == before:
            await asyncio.sleep(0.005)
        await tenure.close()
        await tenure.close()
        before = len(asked)
        await asyncio.sleep(0.05)
        assert len(asked) == before
        ground.warden.live_until(0)
        await running


@pytest.mark.parametrize("held", [True, False])
async def test_before_it_is_known_all_may_run(tmp_path: Path, held: bool) -> None:
    tenure = Tenure(nothing, LATER)
    if held:
        tenure.hold(since_boot() + LATER)
    async with opened(tmp_path, "unconfined") as ground:
        tenure.include(ground.warden)
        await ground.run("touch done")
        assert (ground.workspace / "done").exists()
    await tenure.close()
