"""Engines in processes that are killed: nothing that waits is lost, and nothing runs beside itself.

Two processes run engines on one file, and each is killed in the middle of runs, again and again.
"""

import subprocess
import sys
from itertools import count, groupby
from pathlib import Path

import anyio
import pytest
from engine.engine_child import KEY
from msgspec.structs import replace

from holdfast.contract.events import Event, SessionCreated, StatusIdle, UserMessage
from holdfast.contract.journal import Journal
from holdfast.contract.wake_events import WakeQueued
from holdfast.record.codec import Chain
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

CHILD = Path(__file__).with_name("engine_child.py")
SESSIONS = [f"ses_{number}" for number in range(6)]
KILLS = 5


class Child:
    def __init__(self, path: Path) -> None:
        argv = [sys.executable, str(CHILD), str(path)]
        self._process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )

    def killed_in_a_run(self) -> str:
        """Kill it right after a run began."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("begun"):
                self.kill()
                return line.split()[1]
        raise AssertionError("it ended by itself")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


async def wait_until_all_is_done(journal: Journal) -> None:
    with anyio.fail_after(60):
        while await journal.next_due() is not None:  # noqa: ASYNC110 - others write it
            await anyio.sleep(0.05)


def check(events: tuple[Event, ...]) -> int:
    """The runs of a session, each from its beginning to where it ended or was killed."""
    of_wakes = [one for one in events if one.wake_id is not None]
    runs = [(name, list(run)) for name, run in groupby(of_wakes, lambda one: one.wake_id)]
    names = [name for name, _ in runs]
    assert len({*names}) == len(names), f"a run wrote after another began: {names}"
    return sum(not isinstance(run[-1].payload, StatusIdle) for _, run in runs)


@pytest.mark.timeout(90)
async def test_engines_that_are_killed_lose_nothing_and_run_nothing_twice_at_once(
    tmp_path: Path,
) -> None:
    path = tmp_path / "holdfast.db"
    clock = SystemClock()
    journal = open_sqlite(path, Chain(KEY), clock, TimeIds(clock)).journal
    wake = WakeQueued(queued_wake_id="qwk", due_at=clock.now(), reason="later")
    for name in SESSIONS:
        await journal.create(name, [SessionCreated(agent_id="kit"), UserMessage(message="0"), wake])
    said = dict.fromkeys(SESSIONS, 1)

    async def talk() -> None:
        """There is always something to do, whoever is quicker to do it."""
        for number in count(1):
            for name in SESSIONS:
                more = replace(wake, queued_wake_id=f"qwk_{number}", due_at=clock.now())
                await journal.append(name, [UserMessage(message=f"{number}"), more])
                said[name] += 1
            await anyio.sleep(0.1)

    children = [Child(path), Child(path)]
    killed: list[str] = []
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(talk)
            for _ in range(KILLS):
                child = children.pop(0)
                killed.append(await anyio.to_thread.run_sync(child.killed_in_a_run))
                children.append(Child(path))
            group.cancel_scope.cancel()
        await wait_until_all_is_done(journal)
    finally:
        for child in children:
            child.kill()
    broken_off = 0
    for name in SESSIONS:
        events = await journal.events(name, limit=100_000)
        state = (await journal.session(name)).state
        assert (state.status, state.pending, state.wakes) == ("idle", (), ())
        words = [one for one in events if isinstance(one.payload, UserMessage)]
        assert len(words) in {said[name], said[name] + 1}  # the last one was broken off
        assert all(one.processed_at is not None for one in words)
        broken_off += check(events)
    assert broken_off, f"none of {killed} was killed in the middle"
    await journal.close()
