"""The terminal while the screen is ours: every key comes at once, nothing is echoed, and all of it
is as it was when the screen is left, whatever happened.

Ctrl-C and Ctrl-Z stay signals: what they mean is known elsewhere.
"""

import os
import shutil
import termios
from contextlib import suppress
from typing import Any, TextIO

from holdfast.execution.terminal_guard import TerminalGuard
from holdfast.surfaces.cli.full_screen.layout import Size
from holdfast.surfaces.cli.full_screen.stray import Stray
from holdfast.surfaces.cli.hang_up import Stage
from holdfast.surfaces.cli.typed import is_closed

_ENTER = "\x1b[?1049h\x1b[?7l\x1b[?1007h\x1b[?2004h\x1b[?25l"
"""The other screen; rows that are too long are cut; a wheel is the arrows; what is pasted says so;
no cursor."""
_LEAVE = "\x1b[?2026l\x1b[?2004l\x1b[?1007l\x1b[r\x1b[?7h\x1b[0m\x1b[?25h\x1b[?1049l"
_MOST = 65_536
_OUTPUTS = (1, 2)


class Terminal:
    """A keyboard, and the screen before it."""

    def __init__(self, keyboard: TextIO, out: TextIO) -> None:
        self.keyboard = keyboard.fileno()
        self._out = out
        self._stage = Stage(out)
        self._before: list[Any] | None = None
        self._guard: TerminalGuard | None = None
        self._stray = Stray(one for one in _OUTPUTS if _is_same(one, out.fileno()))

    @property
    def is_ours(self) -> bool:
        """Whether the screen is the run's now."""
        return self._before is not None

    @property
    def size(self) -> Size:
        """As it is now."""
        try:
            found = os.get_terminal_size(self._out.fileno())
        except OSError:
            found = os.terminal_size((0, 0))
        if not (found.columns and found.lines):
            found = shutil.get_terminal_size()
        return Size(max(found.columns, 1), max(found.lines, 4))

    def enter(self) -> None:
        """Take the screen. termios.error where there is none."""
        before = termios.tcgetattr(self.keyboard)
        with suppress(OSError):  # without one, a kill leaves the terminal as it is
            self._guard = TerminalGuard(self._out.fileno(), _LEAVE.encode(), before)
        self._before = before
        self._stray.begin()
        self.resume()

    def resume(self) -> None:
        """Have it again, after it was lent."""
        if self._before is None:
            return
        with suppress(termios.error):
            termios.tcsetattr(self.keyboard, termios.TCSADRAIN, _every_key(self._before))
        self.write(_ENTER)

    def lend(self) -> None:
        """Give it back for a while, as this program is stopped."""
        if self._before is None:
            return
        self.write(_LEAVE)
        with suppress(termios.error):
            termios.tcsetattr(self.keyboard, termios.TCSADRAIN, self._before)

    def leave(self) -> str:
        """Give it back for good; what others printed meanwhile."""
        if self._before is None:
            return ""
        with suppress(termios.error):  # half a word to the agent is no command to a shell
            termios.tcflush(self.keyboard, termios.TCIFLUSH)
        self.lend()
        self._before = None
        if self._guard is not None:
            self._guard.end()
        return self._stray.end()

    def forget(self) -> None:
        """Nobody is there any more."""
        self._stray.forget()

    def write(self, text: str) -> None:
        """Write it, and let them see it."""
        self._stage.write(text)
        self._stage.flush()

    def read(self) -> bytes | None:
        """What was typed, at once; None: the terminal is gone."""
        try:
            read = os.read(self.keyboard, _MOST)
        except OSError:
            return None
        return None if not read and is_closed(self.keyboard) else read

    def stray(self) -> list[str]:
        """What others printed since the last time."""
        return self._stray.lines()


def _is_same(descriptor: int, ours: int) -> bool:
    """Whether another descriptor leads to our terminal."""
    try:
        same = os.fstat(descriptor).st_rdev == os.fstat(ours).st_rdev
    except OSError:
        return False  # it is closed
    return same and descriptor != ours and os.isatty(descriptor)


def _every_key(before: list[Any]) -> list[Any]:
    """The same terminal without lines and echo; signals stay, but the one that leaves a dump."""
    read, write, control, local, *speeds, special = before
    read &= ~(termios.ICRNL | termios.IXON | termios.INLCR | termios.ISTRIP)
    local &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
    local |= termios.NOFLSH
    keys = [*special]
    # Nobody waits for a key while they read: what was there may be gone by then.
    keys[termios.VMIN], keys[termios.VTIME] = 0, 0
    keys[termios.VQUIT] = b"\x00"
    return [read, write, control, local, *speeds, keys]
