"""Workers that are killed, or stand still and wake up; servers that go and come back."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import psycopg
import pytest
from engine.cluster.cluster_child import PACE
from engine.cluster.fleets import SELDOM, WORD, Fleet, until
from msgspec.structs import replace
from nats_server import NatsNode, running_nats

from holdfast.contract.journal import Journal, JournalUnavailable
from holdfast.engine.cluster.door import NatsServers
from holdfast.testing.engine_kit import ToyRunner

pytestmark = pytest.mark.anyio

CHILD = Path(__file__).with_name("cluster_child.py")
S = "ses_1"


class Child:
    """A worker in a process of its own."""

    def __init__(self, process: "subprocess.Popen[bytes]", told: Path) -> None:
        self.process = process
        self._told = told

    def said(self) -> list[str]:
        return self._told.read_text("utf-8").splitlines()

    async def says(self, line: str) -> None:
        await until(lambda: line in self.said())

    def signal(self, number: int) -> None:
        os.kill(self.process.pid, number)


@contextmanager
def child(
    fleet: Fleet,
    tmp_path: Path,
    name: str,
    seconds: float,
    variables: Mapping[str, str] | None = None,
) -> Generator[Child]:
    told = tmp_path / f"{name}.txt"
    where = (fleet.place.where, ",".join(fleet.servers.servers), fleet.servers.namespace)
    with told.open("wb") as out, (tmp_path / f"{name}.err").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, CHILD, *where, name, str(seconds)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=variables,
        )
    try:
        yield Child(process, told)
    finally:
        process.kill()
        process.wait()


async def at_rest(journal: Journal, name: str = S, seconds: float = 12.0) -> None:
    with anyio.fail_after(seconds):
        while True:
            state = (await journal.session(name)).state
            if not state.pending and state.status == "idle":
                return
            await anyio.sleep(0.02)


async def test_a_killed_workers_session_is_taken_over_when_its_lease_ends(
    fleet: Fleet, tmp_path: Path
) -> None:
    await fleet.made(S, WORD)
    with child(fleet, tmp_path, "first", 60) as first:
        await first.says(f"begun {S}")
        first.process.kill()
        first.process.wait()
        lease = (await fleet.journal.session(S)).lease
        assert lease is not None
        runner = ToyRunner(fleet.journal, "second")
        async with fleet.working(runner, PACE):
            await at_rest(fleet.journal)
        passed = fleet.clock.unix_ns() // 1000 - lease.until_micros
    assert 0 <= passed < 1_000_000, "it was not taken over when the lease ended"
    assert await fleet.store.archive.rebuild(S, repair=False) == ()


async def test_a_worker_that_stood_still_is_refused(fleet: Fleet, tmp_path: Path) -> None:
    await fleet.made(S, WORD)
    with child(fleet, tmp_path, "first", 0.5) as first:
        await first.says(f"begun {S}")
        first.signal(signal.SIGSTOP)
        runner = ToyRunner(fleet.journal, "second")
        async with fleet.working(runner, PACE):
            await at_rest(fleet.journal)
            first.signal(signal.SIGCONT)
            await first.says(f"refused {S}")
            await fleet.made("ses_2", WORD)
            await first_or_here(first, runner)
    assert f"ended {S}" not in first.said()
    assert await fleet.store.archive.rebuild(S, repair=False) == ()


async def first_or_here(first: Child, runner: ToyRunner) -> None:
    """The one that was refused is a worker like any other."""
    await until(lambda: "ended ses_2" in first.said() or "ses_2" in runner.order)


async def test_a_store_that_is_gone_for_a_while_ends_nothing(fleet: Fleet) -> None:
    """One of its processes is killed: the server ends all others, and comes back by itself."""
    runner = ToyRunner(fleet.journal)
    pace = replace(SELDOM, look_seconds=0.1)
    async with fleet.working(runner, pace):
        await fleet.made("ses_before", WORD)
        await at_rest(fleet.journal, "ses_before")
        with psycopg.connect(fleet.place.where) as connection:
            os.kill(connection.info.backend_pid, signal.SIGKILL)
            with pytest.raises(psycopg.OperationalError):
                connection.execute("SELECT 1")
        with anyio.fail_after(12):
            while True:
                try:
                    await fleet.made(S, WORD)
                except JournalUnavailable:
                    await anyio.sleep(0.05)
                else:
                    break
        await at_rest(fleet.journal)


@asynccontextmanager
async def fleet_on(url: str, count: int) -> AsyncGenerator[tuple[Fleet, NatsNode]]:
    """With servers of its own, and one of them."""
    with running_nats(count) as nats:
        servers = NatsServers(servers=nats.urls, replicas=count)
        async with Fleet(servers, url).opened() as fleet:
            yield fleet, nats.nodes[0]


async def test_servers_of_nats_that_are_gone_for_a_while_end_nothing(postgres_url: str) -> None:
    async with fleet_on(postgres_url, 1) as (fleet, node):
        runner = ToyRunner(fleet.journal)
        # What waited at the server is lost with it, and would not be missed for long.
        pace = replace(SELDOM, look_seconds=0.2, wait_seconds=600)
        async with fleet.working(runner, pace) as engine:
            await fleet.made("ses_before", WORD)
            engine.poke("ses_before")
            await at_rest(fleet.journal, "ses_before")
            node.kill()
            await fleet.made(S, WORD)
            engine.poke(S)
            await until(lambda: not fleet.link.client.is_connected)
            node.start()
            await at_rest(fleet.journal)


@pytest.mark.timeout(60)
async def test_one_of_three_servers_is_lost_and_no_wake_is(postgres_url: str) -> None:
    async with fleet_on(postgres_url, 3) as (fleet, node):
        runner = ToyRunner(fleet.journal)
        names = [f"ses_{number}" for number in range(60)]
        async with fleet.working(runner, replace(SELDOM, look_seconds=0.5)) as engine:
            for name in names[:30]:
                await fleet.made(name, WORD)
            engine.poke(names[0])
            await until(lambda: bool(runner.order))
            node.kill()
            for name in names[30:]:
                await fleet.made(name, WORD)
            engine.poke(names[-1])
            for name in names:
                await at_rest(fleet.journal, name)
    assert runner.twice_at_once == []
