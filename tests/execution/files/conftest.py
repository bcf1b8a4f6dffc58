"""What the tests of files share."""

from pathlib import Path

import pytest
from execution.files.ground import Ground


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)
