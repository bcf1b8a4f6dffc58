"""What the tests of the command line share."""

import shutil
from pathlib import Path

import pytest
from command import TOOLS, Answered, Cli

from holdfast.surfaces.cli.entry import main


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def tool_file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(TOOLS, "utf-8")
    return path


@pytest.fixture
def cli(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Cli:
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    monkeypatch.delenv("HOLDFAST_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Answered:
        status = main(list(words))
        captured = capsys.readouterr()
        return Answered(status, captured.out, captured.err)

    return run


@pytest.fixture
def script(tmp_path: Path) -> str:
    """An MCP server as a program; it is told in a word how to misbehave."""
    path = tmp_path / "server.py"
    shutil.copy(Path(__file__).parents[1] / "sources" / "mcp" / "raw_server.py", path)
    return str(path)
