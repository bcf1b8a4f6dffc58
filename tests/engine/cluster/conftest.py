"""A real PostgreSQL and a real NATS, started by the first test of a process that wants them."""

from collections.abc import AsyncGenerator, Generator
from itertools import count

import pytest
from engine.cluster.fleets import Fleet
from nats_server import NatsServers, running_nats
from postgres_server import PostgresServer, running_server

from holdfast.engine.cluster.door import NatsServers as Servers

_numbers = count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Generator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Generator[str]:
    """An empty database, of this test alone."""
    with postgres_server.database() as url:
        yield url


@pytest.fixture(scope="session")
def nats() -> Generator[NatsServers]:
    with running_nats() as servers:
        yield servers


@pytest.fixture
def servers(nats: NatsServers) -> Servers:
    """In a namespace of this test alone."""
    return Servers(servers=nats.urls, namespace=f"test{next(_numbers)}")


@pytest.fixture
async def fleet(servers: Servers, postgres_url: str) -> AsyncGenerator[Fleet]:
    async with Fleet(servers, postgres_url).opened() as fleet:
        yield fleet
