"""What the tests of the app room share."""

from pathlib import Path

import pytest
from engine.cluster.conftest import nats
from places import Places, make_places
from record.conftest import place, postgres_server, postgres_url

__all__ = ["nats", "place", "places", "postgres_server", "postgres_url", "workspace"]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return make_places(tmp_path)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "notes.txt").write_text("of the workspace", "utf-8")
    return root
