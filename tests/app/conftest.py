"""What the tests of the app room share."""

from pathlib import Path

import pytest
from places import Places, make_places


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return make_places(tmp_path)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "ws"
    place.mkdir()
    (place / "notes.txt").write_text("of the workspace", "utf-8")
    return place
