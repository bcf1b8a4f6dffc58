"""What programs and libraries of this process print while the screen is ours: kept, told as lines,
and given out when the screen is left. It would stand in the middle of everything else.
"""

import os
import tempfile
from collections.abc import Iterable
from fcntl import F_DUPFD_CLOEXEC, fcntl
from typing import BinaryIO

from holdfast.surfaces.cli.hang_up import forget_terminals

_FREE = 3
_MOST = 65_536
"""Bytes that are read at once."""
_MOST_GIVEN = 4 * _MOST
"""Bytes that are given out at the end: the last ones."""


class Stray:
    """Stands where descriptors led to a terminal."""

    def __init__(self, descriptors: Iterable[int]) -> None:
        self._descriptors = [*descriptors]
        self._file: BinaryIO | None = None
        self._kept: dict[int, int] = {}
        self._read = 0

    def begin(self) -> None:
        """Take what is printed from here on."""
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - `end` closes it
        for descriptor in self._descriptors:
            # Never 0 to 2: where one of them is closed, it would take its place.
            self._kept[descriptor] = fcntl(descriptor, F_DUPFD_CLOEXEC, _FREE)
            os.dup2(self._file.fileno(), descriptor)

    def lines(self) -> list[str]:
        """What was printed since the last time, as far as its lines are whole."""
        if self._file is None:
            return []
        text = os.pread(self._file.fileno(), _MOST, self._read)
        whole = text if len(text) == _MOST else text[: text.rfind(b"\n") + 1]
        self._read += len(whole)
        return whole.decode("utf-8", "replace").splitlines()

    def forget(self) -> None:
        """The terminal is gone: nothing is given back to it."""
        forget_terminals(self._kept.values())

    def end(self) -> str:
        """Give the descriptors back; what was printed, the end of it."""
        file, self._file = self._file, None
        if file is None:
            return ""
        for descriptor, kept in self._kept.items():
            os.dup2(kept, descriptor)
            os.close(kept)
        self._kept = {}
        with file:
            size = os.fstat(file.fileno()).st_size
            printed = os.pread(file.fileno(), _MOST_GIVEN, max(size - _MOST_GIVEN, 0))
        return printed.decode("utf-8", "replace")
