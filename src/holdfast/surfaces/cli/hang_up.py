"""A terminal that is closed while somebody's agent works there: what is written goes nowhere."""

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import TextIO


class Stage:
    """A terminal to write to, which may be gone: from then on nobody is there."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, text: str, /) -> None:
        """Write, if anybody is there."""
        try:
            self._out.write(text)
        except OSError:
            self._forget()

    def flush(self) -> None:
        """Let them see it."""
        try:
            self._out.flush()
        except OSError:
            self._forget()

    def _forget(self) -> None:
        forget_terminals([self._out.fileno()])


def terminals_in(streams: Iterable[TextIO]) -> frozenset[int]:
    """The descriptors of those that are terminals, to be asked for while they are."""
    found: set[int] = set()
    for stream in streams:
        with suppress(OSError, ValueError):  # it is kept in memory, or closed
            if stream.isatty():
                found.add(stream.fileno())
    return frozenset(found)


def forget_terminals(descriptors: Iterable[int]) -> None:
    """Nobody reads there any more: also what is still to be written when the program ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    for descriptor in descriptors:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
