"""What the tests of the agent for editors share."""

from pathlib import Path

import pytest
from acp_editor import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir(mode=0o700)
    work.mkdir()
    return Place(home, work)
