"""`python -m holdfast` is the command `holdfast`."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from command import start

from holdfast import __version__


def test_the_module_answers_like_the_command(tmp_path: Path) -> None:
    words = ["call", "weather", "--from", "gone.py"]
    result = subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        env={"HOLDFAST_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=15,
    )
    assert (result.returncode, result.stdout, result.stderr) == start(*words, home=tmp_path)
    assert result.returncode == 2


def test_the_module_hands_its_exit_status_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["holdfast", "--version"])
    with pytest.raises(SystemExit) as left:
        runpy.run_module("holdfast", run_name="__main__")
    assert left.value.code == 0
    assert capsys.readouterr().out == f"holdfast {__version__}\n"
