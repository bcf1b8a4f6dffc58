"""What the tests of the server share."""

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import HOLDFAST
from mcp_pipe import Piped
from mcp_process import variables
from mcp_tools import STUBBORN, TOOLS


@pytest.fixture
def tool_file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(TOOLS, "utf-8")
    return path


@pytest.fixture
def piped(tool_file: Path, tmp_path: Path) -> Generator[Piped]:
    with server_with(tool_file, tmp_path) as served:
        yield served


@contextmanager
def server_with(tool_file: Path, folder: Path) -> Generator[Piped]:
    """Behind a pipe, with these tools."""
    home, work = folder / "home", folder / "work"
    home.mkdir(mode=0o700)
    work.mkdir()
    words = ["mcp", "serve", "--from", str(tool_file), "--workspace", str(work)]
    process = subprocess.Popen(
        [str(HOLDFAST), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=variables(home),
    )
    with process:
        try:
            yield Piped(process)
        finally:
            if process.poll() is None:
                process.kill()


@pytest.fixture
def stubborn_file(tmp_path: Path) -> Path:
    path = tmp_path / "stubborn.py"
    path.write_text(STUBBORN, "utf-8")
    return path


@pytest.fixture
def piped_stubborn(stubborn_file: Path, tmp_path: Path) -> Generator[Piped]:
    with server_with(stubborn_file, tmp_path) as served:
        yield served
