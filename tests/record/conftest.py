"""A real PostgreSQL, started by the first test of a process that wants a database."""

from collections.abc import Generator

import pytest
from postgres_server import PostgresServer, running_server


@pytest.fixture(scope="session")
def postgres_server() -> Generator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Generator[str]:
    """An empty database, of this test alone."""
    with postgres_server.database() as url:
        yield url
