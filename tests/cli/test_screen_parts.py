"""Parts of the whole screen, apart from any run."""

import os
import pty
from io import StringIO
from pathlib import Path

import pytest

from holdfast.surfaces.cli.full_screen import chosen
from holdfast.surfaces.cli.full_screen.terminal import Terminal
from holdfast.surfaces.cli.screen import Screen


def test_where_no_keyboard_is_there_is_no_whole_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert (
        chosen.why_not(Screen(StringIO(), StringIO()), {"TERM": "xterm"})
        == "standard input is no terminal"
    )


def test_a_place_is_shown_below_the_home_it_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert chosen.place_shown(str(tmp_path / "work")) == "~/work"
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    assert chosen.place_shown(str(tmp_path / "work")) == str(tmp_path / "work")
    monkeypatch.delenv("HOME")
    assert chosen.place_shown(str(tmp_path / "work")) == str(tmp_path / "work")


def test_a_terminal_that_is_not_ours_is_neither_lent_nor_left() -> None:
    keys, written = pty.openpty()
    with os.fdopen(written, "r", closefd=False) as keyboard, os.fdopen(written, "w") as out:
        terminal = Terminal(keyboard, out)
        terminal.resume()
        terminal.lend()
        assert terminal.leave() == ""
        assert not terminal.is_ours
        assert terminal.size.rows >= 4
    os.close(keys)
    assert terminal.read() is None  # it is gone
