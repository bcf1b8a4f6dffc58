"""Pipes a persistent shell prints to: one pair for each command, used again when nobody holds it.

The shell holds reading ends only, and opens a pipe for writing while a command runs. So when the
command is over and something can still be written, a process it left behind holds the pipe: the
next command then gets another pair, and what comes late is not taken for its output. How a command
is run is not known here.
"""

import os
import select
from collections.abc import Callable

from holdfast.execution.processes.capture import Capture

PAIRS = 4
"""So many commands of one shell can leave something behind that holds their output."""


class OutputPair:
    """The pipes of one command."""

    def __init__(self, number: int, files: int, capture: Callable[[], Capture]) -> None:
        """``files``: the directory of this process's open files."""
        self.number = number
        self._files = files
        self.late = False
        """A process left behind prints to it."""
        self._make = capture
        ends = [os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK) for _ in range(2)]
        self.reading = [reading for reading, _ in ends]
        self._names = [str(reading) for reading in self.reading]
        self._poll = select.poll()
        for pipe in self.reading:
            self._poll.register(pipe, select.POLLIN)
        self._kept_open = [writing for _, writing in ends]
        self.capture = self._read()

    def is_alone(self) -> bool:
        """Whether nobody holds it any more, and nothing is in it."""
        # Our own hold is there lest it ends before it begins; without it the end is seen.
        self._let_go()
        if [found for _, found in self._poll.poll(0)] != [select.POLLHUP, select.POLLHUP]:
            return False
        self._hold()
        return True

    def renew(self) -> None:
        """Have it as it was in the beginning; nobody holds it any more."""
        self.capture.close()
        self._hold()
        self.capture = self._read()
        self.late = False

    def close(self) -> None:
        """Let go of everything."""
        self.capture.close()
        self._let_go()
        for pipe in self.reading:
            os.close(pipe)

    def _read(self) -> Capture:
        capture = self._make()
        for name, pipe in zip(("stdout", "stderr"), self.reading, strict=True):
            capture.read_from(name, pipe)
        return capture

    def _hold(self) -> None:
        self._kept_open = [
            os.open(name, os.O_WRONLY | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=self._files)
            for name in self._names
        ]

    def _let_go(self) -> None:
        for pipe in self._kept_open:
            os.close(pipe)
        self._kept_open = []


class OutputPipes:
    """All pairs of a persistent shell; they outlive a shell that is replaced."""

    def __init__(self, capture: Callable[[], Capture]) -> None:
        self._files = os.open("/proc/self/fd", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._pairs = [OutputPair(number, self._files, capture) for number in range(PAIRS)]

    def reading(self) -> list[int]:
        """The ends that a shell is started with, by the numbers of the pairs."""
        pairs = sorted(self._pairs, key=lambda pair: pair.number)
        return [pipe for pair in pairs for pipe in pair.reading]

    def free(self) -> OutputPair | None:
        """A pair for the next command; None: processes left behind hold them all."""
        for pair in self._pairs:
            if not pair.late:
                return pair
            if pair.capture.closed:
                pair.renew()
                return pair
        return None

    @property
    def closed(self) -> bool:
        """Whether nobody holds any of them."""
        return all(not pair.late or pair.capture.closed for pair in self._pairs)

    def close(self) -> None:
        """Let go of them all."""
        for pair in self._pairs:
            pair.close()
        os.close(self._files)
