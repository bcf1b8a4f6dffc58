"""One run of ripgrep: started where it sees nothing else, read in a thread while it runs, ended.

What it is asked and what its words mean is not known here.
"""

import fcntl
import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

from holdfast.contract.errors import Unavailable
from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.processes.started import Started, begin
from holdfast.execution.processes.views import View
from holdfast.execution.processes.wardens import Warden
from holdfast.execution.search.log import Log, read_log
from holdfast.execution.threads import in_thread

_PIPE = 1024 * 1024
_FEW = 64 * 1024
_PAUSE_SECONDS = 0.002
"""It prints file by file: woken for each of them, whoever reads would take its time away."""
_ENDED = frozenset({0, 1, 2})
"""It found something, or nothing, or had trouble, of which its log tells."""
MOST_LOGGED = 64 * 1024 * 1024
"""So much of its log is read; a longer one only makes a count too small."""


class Reader(Protocol):
    """Takes what is printed, piece by piece."""

    def take(self, piece: bytes, /) -> bool:
        """Take a piece; False: no more is wanted, and it is ended."""
        ...


class Nothing:
    """Reads what nobody wants."""

    def take(self, _piece: bytes, /) -> bool:
        """More may come."""
        return True


class Zeros:
    """Counts what ends with NUL."""

    def __init__(self) -> None:
        self.count = 0

    def take(self, piece: bytes, /) -> bool:
        """Count those in a piece."""
        self.count += piece.count(0)
        return True


class Run(NamedTuple):
    """How a run went."""

    exit_code: int | None
    """None: it was ended from here."""
    log: Log


async def run(view: View, argv: Sequence[str], cwd: str, reader: Reader) -> Run:
    """Take it to its end. Cancelled, or when the reader wants no more, it is killed at once.

    Unavailable: there is no sandbox, or somebody else ended it; what was read is not all.
    """
    warden = await view.warden()
    log = os.memfd_create("log")
    try:
        pipe, piped = _begun(warden, argv, cwd, log)
        try:
            whole = await in_thread(lambda: _read(pipe, reader, piped))
        except BaseException:
            piped.kill()  # whoever reads sees the end of the pipe
            pipe.close()
            raise
        code = await piped.ended()
        if whole and code not in _ENDED:
            raise Unavailable("The search did not come to its end; nothing is known of the rest.")
        return Run(code if whole else None, read_log(os.pread(log, MOST_LOGGED, 0)))
    finally:
        os.close(log)


def _begun(warden: Warden, argv: Sequence[str], cwd: str, log: int) -> tuple["_Pipe", Started]:
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    reading, writing = os.pipe2(os.O_CLOEXEC)
    pipe = _Pipe(reading)
    try:
        with suppress(OSError):
            fcntl.fcntl(reading, fcntl.F_SETPIPE_SZ, _PIPE)
        return pipe, begin(warden, argv, cwd, [nothing, writing, log])
    except SandboxUnavailable as problem:
        pipe.close()
        raise Unavailable(f"There is no sandbox to search in: {problem}.") from None
    finally:
        os.close(writing)
        os.close(nothing)


class _Pipe:
    """A pipe's end that is closed by whoever gets it: who reads, or who gives up before that."""

    def __init__(self, end: int) -> None:
        self._end: int | None = end
        self._lock = threading.Lock()

    def take(self) -> int | None:
        """It is the caller's to close; None: somebody else has it."""
        with self._lock:
            end, self._end = self._end, None
        return end

    def close(self) -> None:
        """Close it, unless somebody reads it."""
        end = self.take()
        if end is not None:
            os.close(end)


def _read(pipe: _Pipe, reader: Reader, piped: Started) -> bool:
    """In a thread: read to the end; whether that was wanted."""
    end = pipe.take()
    if end is None:
        return False
    try:
        while piece := os.read(end, _PIPE):
            if not reader.take(piece):
                piped.kill()
                return False
            if len(piece) < _FEW:
                time.sleep(_PAUSE_SECONDS)
        return True
    finally:
        os.close(end)
