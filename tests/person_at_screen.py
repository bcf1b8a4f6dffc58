"""A person before a run that has the whole screen of a real terminal: they see, type and wait."""

import codecs
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from agent_scripts import PATIENCE, asks, script
from command import HOLDFAST
from full_terminal import FullTerminal

UP, DOWN, PAGE_UP, PAGE_DOWN = "\x1b[A", "\x1b[B", "\x1b[5~", "\x1b[6~"
HOME, END, BACK_TAB = "\x1b[H", "\x1b[F", "\x1b[Z"
ASKS = ("--set", "profile.code.rules=[{permission='edit',pattern='*',action='ask'}]")
EDIT = asks("edit", path="a.txt", old_string="two", new_string="2")
LONG = asks("bash", command="echo begun; sleep 30; echo over")


class AtScreen:
    """One command at a terminal of its own."""

    def __init__(
        self,
        *words: str,
        home: Path,
        size: tuple[int, int] = (120, 40),
        variables: dict[str, str] | None = None,
    ) -> None:
        self._ours, self.theirs = pty.openpty()
        self.seen = FullTerminal(*size)
        self.written = 0
        """Bytes that reached the terminal."""
        self._is_closed = False
        self._set_size(*size)
        self.before: list[Any] = termios.tcgetattr(self.theirs)
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        around = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        self.process = subprocess.Popen(
            [str(HOLDFAST), *words],
            stdin=self.theirs,
            stdout=self.theirs,
            stderr=self.theirs,
            env={**around, "HOLDFAST_HOME": str(home), "TERM": "xterm", **(variables or {})},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()
        self.close()

    def close(self) -> None:
        """The window is closed."""
        if not self._is_closed:
            self._is_closed = True
            os.close(self._ours)
            os.close(self.theirs)

    @property
    def settings(self) -> list[Any]:
        """How the terminal is set now."""
        return termios.tcgetattr(self.theirs)

    def until(self, *texts: str) -> str:
        """Wait until all of it is seen at once; the screen then."""
        self.wait(lambda: all(one in self.seen.text for one in texts))
        return self.seen.text

    def until_gone(self, text: str) -> str:
        """Wait until it is not seen any more; the screen then."""
        self.wait(lambda: text not in self.seen.text)
        return self.seen.text

    def wait(self, true: Callable[[], bool]) -> None:
        """Look until it is so."""
        until = time.monotonic() + PATIENCE
        while not true():
            if time.monotonic() > until:
                told = f"{self.seen.text}\n--\n" + "\n".join(self.seen.ordinary.lines)
                raise AssertionError(f"it did not come to be; this is seen:\n{told}")
            self.look(0.05)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._ours, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        """The window gets another size."""
        self.seen.resize(columns, rows)
        self._set_size(columns, rows)
        os.killpg(self.process.pid, signal.SIGWINCH)

    def end(self) -> tuple[int, str]:
        """Wait for its end; the exit status, and the words that stand on the ordinary screen."""
        self.wait(lambda: self.process.poll() is not None)
        while self.look(0.05):
            pass
        words = " ".join(self.seen.ordinary.lines).split()
        return self.process.returncode, " ".join(words)

    def look(self, seconds: float) -> bool:
        """See what comes next; whether anything came so soon."""
        if not select.select([self._ours], [], [], seconds)[0]:
            return False
        read = os.read(self._ours, 65_536)
        self.written += len(read)
        self.seen.write(self._decoder.decode(read))
        return True

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def at_work(home: Path, work: Path, *turns: dict[str, Any]) -> AtScreen:
    """An agent that plays these turns there, and asks about each edit."""
    words = ("run", "--screen", "Please do it.", "--workspace", str(work), *ASKS)
    return AtScreen(*words, "--model", script(work.parent, *turns), home=home)
