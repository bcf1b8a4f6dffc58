"""`holdfast cluster status`: who works, in which version, and who runs something and is silent."""

import json
from collections.abc import Generator
from contextlib import contextmanager

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from command import Cli
from nats_server import NatsServers, running_nats
from postgres_server import PostgresServer, running_server

from holdfast.contract.events import SessionCreated
from holdfast.engine.cluster.dead import Dead
from holdfast.engine.cluster.door import LinkError
from holdfast.engine.cluster.door import NatsServers as Servers
from holdfast.engine.cluster.link import Link, linked
from holdfast.engine.cluster.present import Worker, answer, present
from holdfast.engine.cluster.streams import Streams
from holdfast.engine.cluster.subjects import WakeSubject
from holdfast.record.codec import Chain
from holdfast.record.postgres.door import open_postgres
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.surfaces.cli import cluster_status
from holdfast.testing.fake_journal import FakeJournal


@pytest.fixture(scope="module")
def nats() -> Generator[NatsServers]:
    with running_nats() as servers:
        yield servers


@pytest.fixture(scope="module")
def postgres() -> Generator[PostgresServer]:
    with running_server() as server:
        yield server


async def _answering(servers: Servers, workers: list[Worker]) -> None:
    async with linked(servers) as link, anyio.create_task_group() as group:
        for one in workers:
            group.start_soon(answer, link, lambda one=one: one)


async def _until_all_answer(servers: Servers, count: int) -> None:
    async with linked(servers) as link:
        with anyio.fail_after(12):
            while len(await present(link, 0.2)) < count:
                pass


@contextmanager
def answering(servers: Servers, *workers: Worker) -> Generator[None]:
    with start_blocking_portal() as portal:
        future = portal.start_task_soon(_answering, servers, list(workers))
        portal.call(_until_all_answer, servers, len(workers))
        yield
        future.cancel()


async def _given_up(servers: Servers) -> None:
    journal = FakeJournal()
    await journal.create("ses_x", [SessionCreated(agent_id="kit")])
    session = await journal.session("ses_x")
    async with linked(servers) as link:
        dead = Dead(link)
        await link.have(dead.streams)
        await dead.bury(WakeSubject("default", "word", "any", "ses_x"), session, "why", 5, 1)


async def _waiting_for(servers: Servers, label: str) -> None:
    async with linked(servers) as link:
        await link.have(Streams(link.names))
        await link.tell(link.names.wake(WakeSubject("default", "word", label, "ses_y")), b"{}")


async def _held(url: str, *holders: str) -> None:
    clock = SystemClock()
    store = open_postgres(url, Chain(b"k" * 32), clock, TimeIds(clock))
    for number, holder in enumerate(holders):
        await store.journal.create(f"ses_{number}", [SessionCreated(agent_id="kit")])
        await store.journal.lease(f"ses_{number}", holder, 60)
    await store.journal.close()


def test_workers_are_named_and_one_that_is_silent_is_too(
    cli: Cli, nats: NatsServers, postgres: PostgresServer
) -> None:
    servers = Servers(servers=nats.urls)
    with postgres.database() as url:
        words = ("store.kind=postgres", f"store.url={url}")
        more = (f"cluster.servers={json.dumps(nats.urls)}",)
        given = [part for one in (*words, *more) for part in ("--set", one)]
        empty = json.loads(cli("cluster", "status", "--json", *given).out)
        assert (empty["workers"], empty["silent"]) == ([], [])
        assert "no worker answers" in cli("cluster", "status", *given).out
        anyio.run(_held, url, "north-1/11-22-aaaa", "south-1/33-44-bbbb", "south-1/33-44-cccc")
        one = Worker(name="north-1/11-22", host="north", version="1.0", concurrency=8, in_hand=1)
        labels = ("gpu", "x")
        two = Worker(name="east-1/5-6", version="2.0\x1b[1m", labels=labels, since=10**20)
        anyio.run(_given_up, servers)
        anyio.run(_waiting_for, servers, "gpu")
        anyio.run(_waiting_for, servers, "tpu")
        with answering(servers, one, two):
            told = json.loads(cli("cluster", "status", "--json", *given).out)
            shown = cli("cluster", "status", *given)
    assert [found["name"] for found in told["workers"]] == ["east-1/5-6", "north-1/11-22"]
    assert told["silent"] == ["south-1/33-44"]
    assert "south-1/33-44  runs a session, and does not answer as a worker" in shown.out
    assert "1 of 8" in shown.out
    assert "gpu, x" in shown.out
    assert "no worker has the label tpu, which 1 session waits for: " in shown.err
    assert "the label gpu" not in shown.err
    assert told["later"] == 0
    assert "\x1b" not in shown.out + shown.err
    assert "workers of several versions: 1.0, 2.0" in shown.err
    assert (told["dead"], "see why: holdfast cluster dead" in shown.err) == (1, True)


def test_servers_that_do_not_answer_are_told(
    cli: Cli, nats: NatsServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(_link: Link) -> tuple[Worker, ...]:
        raise LinkError("NATS did not answer (it was asked for too much)")

    monkeypatch.setattr(cluster_status, "present", silent)
    words = ("store.kind=postgres", "store.url=postgresql://x:pw-of-x@127.0.0.1:1/x")
    more = (f"cluster.servers={json.dumps(nats.urls)}",)
    given = [part for one in (*words, *more) for part in ("--set", one)]
    answer = cli("cluster", "status", *given)
    assert (answer.status, "NATS did not answer" in answer.err) == (1, True)
    assert "ask again in some seconds" in answer.err
