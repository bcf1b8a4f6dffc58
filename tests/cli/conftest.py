"""What the tests of the command line share."""

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
