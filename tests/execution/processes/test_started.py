"""Programs whose output somebody else reads: how they end, and what becomes of their spawners."""

import asyncio
import os
import time
from pathlib import Path

import pytest
from execution.processes.ground import Ground, each, opened, running_in, until_empty

from holdfast.execution.processes.started import Started, begin


def begun(ground: Ground, *argv: str) -> Started:
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        return begin(ground.warden, argv, str(ground.workspace), [nothing] * 3)
    finally:
        os.close(nothing)


@each("landlock")
async def test_its_exit_code_is_told(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        assert await begun(ground, "/bin/sh", "-c", "exit 7").ended() == 7


@each("landlock")
async def test_what_cannot_be_started_ends_without_a_code(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        assert await begun(ground, "/no/such/program").ended() is None
        assert await begun(ground, "/bin/true").ended() == 0


@each("landlock")
async def test_it_is_killed_from_any_thread(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        running = begun(ground, "/bin/sh", "-c", "sleep 60")
        await asyncio.to_thread(running.kill)
        assert await running.ended() == -9
        await until_empty(ground.workspace)


@each("landlock")
async def test_killing_what_has_ended_hits_nobody_else(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        first = begun(ground, "/bin/true")
        assert await first.ended() == 0
        second = begun(ground, "/bin/sh", "-c", "sleep 0.3; exit 3")  # in the same spawner
        first.kill()
        assert await second.ended() == 3


@each("landlock")
async def test_it_ends_with_the_event_loop(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        others = asyncio.all_tasks()
        running = begun(ground, "/bin/sh", "-c", "sleep 60; sleep 60")
        (ending,) = asyncio.all_tasks() - others
        async with asyncio.timeout(10):
            await asyncio.sleep(0)  # the task takes its first step: it waits for the end
            while not running_in(ground.workspace):
                await asyncio.sleep(0.005)
        ending.cancel()  # as a loop does with all that is left when it is closed
        with pytest.raises(asyncio.CancelledError):
            await running.ended()
        await until_empty(ground.workspace)
        assert not ground.warden.lost


@each("landlock")
async def test_it_ends_with_a_loop_that_is_closed_right_after_its_start(
    tmp_path: Path, kind: str
) -> None:
    async with opened(tmp_path, kind) as ground:
        others = asyncio.all_tasks()
        running = begun(ground, "/bin/sh", "-c", "sleep 60; sleep 60")
        (ending,) = asyncio.all_tasks() - others
        for _ in range(2_000):  # without the loop: the task has not taken its first step
            if running_in(ground.workspace):
                break
            time.sleep(0.005)  # noqa: ASYNC251 - so that it has not
        assert running_in(ground.workspace)
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running.ended()
        await until_empty(ground.workspace)
        assert not ground.warden.lost
        assert await begun(ground, "/bin/true").ended() == 0
