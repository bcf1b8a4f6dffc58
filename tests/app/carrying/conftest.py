"""Real servers, and two machines that share nothing else."""

from collections.abc import Generator
from itertools import count
from pathlib import Path

import pytest
from app.carrying.machines import Machine
from nats_server import NatsServers
from postgres_server import PostgresServer

from holdfast.app.agent_settings import ClusterSettings, EngineSettings
from holdfast.app.settings import Settings, StoreSettings

_numbers = count(1)


@pytest.fixture
def settings(postgres_server: PostgresServer, nats: NatsServers) -> Generator[Settings]:
    with postgres_server.database() as url:
        yield Settings(
            engine=EngineSettings(kind="cluster"),
            store=StoreSettings(kind="postgres", url=url),
            cluster=ClusterSettings(
                servers=nats.urls, namespace=f"carried{next(_numbers)}", workspaces="carried"
            ),
        )


@pytest.fixture
def one(settings: Settings, tmp_path: Path) -> Machine:
    return Machine(settings, tmp_path / "one")


@pytest.fixture
def two(settings: Settings, tmp_path: Path) -> Machine:
    return Machine(settings, tmp_path / "two")
