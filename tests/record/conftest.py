"""A real PostgreSQL, started by the first test of a process that wants a database."""

from collections.abc import Generator
from pathlib import Path

import pytest
from postgres_server import PostgresServer, running_server
from record.store_places import StorePlace


@pytest.fixture(scope="session")
def postgres_server() -> Generator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Generator[str]:
    """An empty database, of this test alone."""
    with postgres_server.database() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> StorePlace:
    """A store of each kind, empty."""
    if request.param == "postgres":
        url: str = request.getfixturevalue("postgres_url")
        return StorePlace(url)
    return StorePlace(str(tmp_path / "home" / "holdfast.db"))
