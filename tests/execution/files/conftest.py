"""What the tests of files share."""

from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from execution.files.ground import Ground


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


@pytest.fixture
def shared_ground() -> Generator[Ground]:
    """One that other users can see: pytest's own folders are for their owner alone."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield Ground(folder)
