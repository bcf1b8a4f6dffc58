"""Workers of a cluster that are killed and paused at random: nothing is lost, nothing is stuck.

SEED and MINUTES choose which rounds, and how many.
"""

import os
import random
import signal
import time
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import anyio
import pytest
from engine.cluster.fleets import WORD, Fleet
from engine.cluster.test_gone import at_rest, child
from nats_server import running_nats
from postgres_server import PostgresServer, running_server

from holdfast.engine.cluster.door import NatsServers

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(0)]

SEED = int(os.environ.get("SEED", "1"))
MINUTES = float(os.environ.get("MINUTES", "5"))
SESSIONS = 12


@pytest.fixture(scope="module")
def server() -> Generator[PostgresServer]:
    with running_server() as server:
        yield server


async def test_rounds_of_killed_and_paused_workers(
    server: PostgresServer, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if not request.config.getoption("--run-soak"):
        pytest.skip("a long run; --run-soak")
    until = time.monotonic() + MINUTES * 60
    with running_nats() as nats:
        number = 0
        while time.monotonic() < until:
            number += 1
            dice = random.Random(f"{SEED}-{number}")
            servers = NatsServers(servers=nats.urls, namespace=f"soak{number}")
            folder = tmp_path / str(number)
            folder.mkdir()
            with server.database() as url:
                async with Fleet(servers, url).opened() as fleet:
                    await one_round(fleet, folder, dice)


async def one_round(fleet: Fleet, folder: Path, dice: random.Random) -> None:
    names = [f"ses_{number}" for number in range(SESSIONS)]
    for name in names:
        await fleet.made(name, WORD)
    with ExitStack() as stack:
        workers = [
            stack.enter_context(child(fleet, folder, f"w{at}", dice.uniform(0, 0.4)))
            for at in range(3)
        ]
        await anyio.sleep(dice.uniform(0.5, 2.5))
        killed, paused = dice.sample(workers[:2], 2)
        killed.process.kill()
        paused.signal(signal.SIGSTOP)
        for name in dice.sample(names, 4):
            await fleet.journal.append(name, [WORD])
        await anyio.sleep(dice.uniform(0, 3))
        paused.signal(signal.SIGCONT)
        for name in names:
            await at_rest(fleet.journal, name, 60)
    for name in names:
        assert await fleet.store.archive.rebuild(name, repair=False) == ()
