"""What the tests of the server share."""

from pathlib import Path

import pytest
from mcp_tools import TOOLS


@pytest.fixture
def tool_file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(TOOLS, "utf-8")
    return path
