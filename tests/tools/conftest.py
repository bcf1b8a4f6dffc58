from collections.abc import Generator
from pathlib import Path

import pytest
from web_site import Site, serving


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    return made


@pytest.fixture
def site() -> Generator[Site]:
    with serving() as made:
        yield made
