"""Somebody who puts a terminal right when the program that changed it was killed.

A program that is killed can do nothing any more. So a small one waits beside it, in a session of
its own that no key reaches: it ends without a word when it is told to, and where the other one is
gone without having done so, it writes what leaves the screen and sets the terminal as it was. What
that is, is handed in.
"""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

_DONE = b"."
_SECONDS = 2.0
_WAITS = """
import ast, os, sys, termios
told = os.read(0, 1)
if not told:
    terminal = 1
    os.write(terminal, bytes.fromhex(sys.argv[1]))
    termios.tcsetattr(terminal, termios.TCSADRAIN, ast.literal_eval(sys.argv[2]))
"""


class TerminalGuard:
    """Waits beside this program. End it."""

    def __init__(self, terminal: int, words: bytes, settings: Sequence[object]) -> None:
        """``words``: written to the terminal; ``settings``: as `termios` gives them. OSError."""
        self._waiting = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _WAITS, words.hex(), repr(settings)],
            stdin=subprocess.PIPE,
            stdout=terminal,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """The process that waits."""
        return self._waiting.pid

    def end(self) -> None:
        """The terminal is as it was: nobody needs to wait any longer."""
        with suppress(OSError, subprocess.TimeoutExpired):
            self._waiting.communicate(_DONE, timeout=_SECONDS)
            return
        self._waiting.kill()
        self._waiting.wait()
