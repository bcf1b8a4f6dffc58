"""Signs of life: one line on a terminal, written over, gone at the end; nothing elsewhere."""

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from command import HOLDFAST, Terminal, start

from holdfast.contract.runtime import Progress
from holdfast.surfaces.cli.progress import ProgressLine, progress_here

BUSY = """
from holdfast import Progress, Runtime, tool

@tool
def busy(runtime: Runtime) -> str:
    'Report on the way.'
    runtime.progress(Progress(message="first step", done=1, total=2))
    runtime.progress(Progress(message="last"))
    return "done"
"""


@pytest.fixture
def busy(tmp_path: Path) -> Path:
    path = tmp_path / "busy.py"
    path.write_text(BUSY, "utf-8")
    return path


def test_a_line_takes_the_place_of_the_one_before_and_leaves_nothing() -> None:
    out = io.StringIO()
    line = ProgressLine(out, 40)
    line(Progress(message="fetching\nsome\x1b", done=1, total=4))
    line(Progress(message="fetching\nsome\x1b", done=1, total=4))
    line(Progress(partial="not shown"))
    line(Progress(done=2.5))
    line.clear()
    line(Progress(message="too late"))
    shown = "fetching some\\u001b 1/4"
    assert out.getvalue().split("\r") == ["", shown, "2.5" + " " * (len(shown) - 3), "   ", ""]


def test_a_line_never_wraps() -> None:
    out = io.StringIO()
    ProgressLine(out, 6)(Progress(message="abcdefgh"))
    ProgressLine(out, 6)(Progress(message="天気天気"))
    assert out.getvalue() == "\rabcde\r天気"


def test_a_line_that_was_never_shown_needs_no_clearing() -> None:
    out = io.StringIO()
    ProgressLine(out, 40).clear()
    assert out.getvalue() == ""


def test_only_a_terminal_is_shown_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, seen in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress_here() as progress:
            progress(Progress(message="working"))
            assert ("working" in stream.getvalue()) is seen
    assert stream.getvalue() == ""


def test_a_call_at_a_terminal_shows_its_progress(home: Path, busy: Path) -> None:
    ours, theirs = pty.openpty()
    result = subprocess.run(
        [str(HOLDFAST), "call", "busy", "--from", str(busy)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        check=False,
        timeout=15,
    )
    os.close(theirs)
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert (result.returncode, b"step" in result.stdout) == (0, False)
    assert shown.split("\r") == ["", "first step 1/2", "last          ", "    ", ""]


def test_a_call_without_a_terminal_shows_none(home: Path, busy: Path) -> None:
    answer = start("call", "busy", "--from", str(busy), home=home)
    assert (answer.status, answer.err) == (0, "")
