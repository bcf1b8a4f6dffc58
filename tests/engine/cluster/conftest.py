"""A real PostgreSQL and a real NATS, started by the first test of a process that wants them."""

from collections.abc import AsyncGenerator, Generator
from itertools import count

import pytest
from engine.cluster.fleets import Fleet
from nats_server import NatsServers, running_nats
from record.conftest import postgres_server, postgres_url

from holdfast.engine.cluster.door import NatsServers as Servers
from holdfast.engine.cluster.link import Link, linked
from holdfast.runtime.clock import SystemClock
from holdfast.testing.fake_outbox import FakeOutbox

__all__ = ["postgres_server", "postgres_url"]

_numbers = count(1)


@pytest.fixture(scope="session")
def nats() -> Generator[NatsServers]:
    with running_nats() as servers:
        yield servers


@pytest.fixture
def servers(nats: NatsServers) -> Servers:
    """In a namespace of this test alone."""
    return Servers(servers=nats.urls, namespace=f"test{next(_numbers)}")


@pytest.fixture
async def link(servers: Servers) -> AsyncGenerator[Link]:
    async with linked(servers) as link:
        yield link


@pytest.fixture
async def store() -> AsyncGenerator[FakeOutbox]:
    store = FakeOutbox(SystemClock())
    yield store
    await store.close()


@pytest.fixture
async def fleet(servers: Servers, postgres_url: str) -> AsyncGenerator[Fleet]:
    async with Fleet(servers, postgres_url).opened() as fleet:
        yield fleet
