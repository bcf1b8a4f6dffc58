"""Signs of life from a running tool: one line on the terminal, written over and over.

Without a terminal nothing is shown; what scripts read stays clean.
"""

import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock
from typing import TextIO

from holdfast.contract.runtime import Progress, ProgressSink
from holdfast.surfaces.cli.rows import fitting, text_width
from holdfast.surfaces.cli.screen import one_line


class ProgressLine:
    """The line. Safe to call from any thread; once cleared it says nothing more."""

    def __init__(self, out: TextIO, columns: int) -> None:
        self._out = out
        self._columns = columns
        self._shown = ""
        self._over = False
        self._lock = Lock()

    def __call__(self, progress: Progress, /) -> None:
        """Show it in place of what was shown before."""
        line = fitting(worded(progress), self._columns - 1)
        with self._lock:
            if line and line != self._shown and not self._over:
                self._write(line)
                self._shown = line

    def clear(self) -> None:
        """Leave the line as if nothing had been there. A body that was given up may still call."""
        with self._lock:
            if self._shown:
                self._write("")
                self._out.write("\r")
                self._out.flush()
            self._over = True

    def _write(self, line: str) -> None:
        rest = " " * max(text_width(self._shown) - text_width(line), 0)
        self._out.write(f"\r{line}{rest}")
        self._out.flush()


@contextmanager
def progress_here() -> Generator[ProgressSink]:
    """Where signs of life go: to the person at the terminal, or nowhere."""
    if not sys.stderr.isatty():
        yield _unseen
        return
    line = ProgressLine(sys.stderr, shutil.get_terminal_size().columns)
    try:
        yield line
    finally:
        line.clear()


def _unseen(_progress: Progress, /) -> None:
    return None


def worded(progress: Progress) -> str:
    """What a sign of life says, on one line."""
    parts = [one_line(progress.message)] if progress.message else []
    if progress.done is not None:
        total = "" if progress.total is None else f"/{progress.total:g}"
        parts.append(f"{progress.done:g}{total}")
    return " ".join(parts)
