"""A terminal is put right when the program that changed it was killed, and only then."""

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from typing import Any

import pytest

from holdfast.execution.terminal_guard import TerminalGuard

PROGRAM = """
import os, signal, sys
from holdfast.execution.terminal_guard import TerminalGuard
guard = TerminalGuard(1, b"put right", eval(sys.argv[1]))
os.write(1, b"guarded")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


def _without_echo(theirs: int) -> tuple[list[Any], list[Any]]:
    """How the terminal was, and how it is from now on."""
    before, changed = termios.tcgetattr(theirs), termios.tcgetattr(theirs)
    changed[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, changed)
    return before, changed


def _read_until(ours: int, text: bytes) -> bytes:
    read = b""
    until = time.monotonic() + 10
    while text not in read and time.monotonic() < until:
        if select.select([ours], [], [], 0.1)[0]:
            read += os.read(ours, 1000)
    return read


def test_a_killed_program_leaves_its_terminal_as_it_was(terminal: tuple[int, int]) -> None:
    ours, theirs = terminal
    before, changed = _without_echo(theirs)
    words = [sys.executable, "-c", PROGRAM, repr(before)]
    with subprocess.Popen(words, stdin=theirs, stdout=theirs) as killed:
        assert killed.wait(timeout=15) == -signal.SIGKILL
    assert b"put right" in _read_until(ours, b"put right")
    until = time.monotonic() + 10
    while termios.tcgetattr(theirs) == changed and time.monotonic() < until:
        time.sleep(0.01)
    assert termios.tcgetattr(theirs) == before


def test_who_is_told_that_all_is_well_ends_without_a_word(terminal: tuple[int, int]) -> None:
    ours, theirs = terminal
    before, changed = _without_echo(theirs)
    guard = TerminalGuard(theirs, b"put right", before)
    os.kill(guard.pid, 0)
    guard.end()
    with pytest.raises(ProcessLookupError):
        os.kill(guard.pid, 0)
    assert not select.select([ours], [], [], 0.2)[0]
    assert termios.tcgetattr(theirs) == changed


def test_one_that_is_gone_already_is_no_trouble(terminal: tuple[int, int]) -> None:
    guard = TerminalGuard(terminal[1], b"", [])
    os.kill(guard.pid, signal.SIGKILL)
    guard.end()
    with pytest.raises(ProcessLookupError):
        os.kill(guard.pid, 0)


def test_one_that_does_not_end_is_killed(terminal: tuple[int, int]) -> None:
    guard = TerminalGuard(terminal[1], b"", [])
    os.kill(guard.pid, signal.SIGSTOP)
    guard.end()
    with pytest.raises(ProcessLookupError):
        os.kill(guard.pid, 0)
