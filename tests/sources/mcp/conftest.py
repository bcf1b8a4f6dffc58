"""A workspace for the servers of a test."""

from pathlib import Path

import pytest


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    found = tmp_path / "workspace"
    found.mkdir()
    return found
