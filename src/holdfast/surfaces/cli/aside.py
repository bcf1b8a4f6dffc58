"""Standard output belongs to the answer: what tools and their files print goes to standard error.

Not only `print`: file descriptor 1 itself is turned, so that C code and child processes follow.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from fcntl import F_DUPFD_CLOEXEC, fcntl
from typing import TextIO

from holdfast.surfaces.cli.screen import Screen

_OUT = 1
_ERR = 2
_FREE = 3


@contextmanager
def tools_speak_aside(screen: Screen, *, for_good: bool = False) -> Generator[None]:
    """Keep the real standard output for the screen alone.

    For good: it stays so once the answer is out, because a thread that was given up, or what a tool
    file does at exit, could still print. Only a process that ends with the answer can have that.
    """
    ours = sys.stdout
    ours.flush()
    kept = _taken_away()
    answers = _answers(ours, kept)
    if answers is not None:
        screen.answer_to(answers)
    sys.stdout = sys.stderr
    is_out = False
    try:
        yield
        if answers is not None:
            answers.flush()
            is_out = True
    finally:
        if answers is not None:
            _close(answers)
            screen.answer_to(ours)
        if not (is_out and for_good):
            _give_back(ours, kept)


def _taken_away() -> int | None:
    """Turn descriptor 1 to standard error; returns what it was, None when there is none."""
    try:
        # Never 0 to 2: where one of them is closed, it would take its place.
        kept = fcntl(_OUT, F_DUPFD_CLOEXEC, _FREE)
    except OSError:
        return None
    try:
        os.dup2(_ERR, _OUT)
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, _OUT)
        os.close(nowhere)
    return kept


def _answers(ours: TextIO, kept: int | None) -> TextIO | None:
    """A stream to the real standard output; None when ours does not go through descriptor 1."""
    if kept is None or not _is_descriptor_1(ours):
        return None
    return os.fdopen(kept, "w", encoding="utf-8", errors="backslashreplace", closefd=False)


def _is_descriptor_1(stream: TextIO) -> bool:
    try:
        return stream.fileno() == _OUT
    except (OSError, ValueError):
        return False  # it is kept in memory, or closed


def _close(answers: TextIO) -> None:
    """Close it. Where its flush failed before, it fails again, and was reported before."""
    with suppress(OSError):
        answers.close()


def _give_back(ours: TextIO, kept: int | None) -> None:
    if kept is not None:
        # What was printed through the stream itself has to go where descriptor 1 leads now.
        with suppress(OSError, ValueError):
            ours.flush()
        os.dup2(kept, _OUT)
        os.close(kept)
    sys.stdout = ours
