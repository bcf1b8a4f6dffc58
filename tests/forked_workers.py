"""Workers that are going to be killed: each is a fork of one process that has everything loaded.

A kill then costs no new interpreter. A worker's number is its own until its end is asked for, so it
can be killed without hitting anybody else.
"""

import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec
from this_tree import this_tree

_JobT = TypeVar("_JobT", bound=msgspec.Struct)


class Workers:
    """Starts them, one at a time."""

    def __init__(self, serving: "subprocess.Popen[bytes]") -> None:
        self._serving = serving

    def start(self, job: msgspec.Struct) -> int:
        self._told(msgspec.json.encode(job) + b"\n")
        return int(self._line())

    def ended(self) -> int:
        """How the last one ended, when it has."""
        self._told(b"\n")
        return int(self._line())

    def _told(self, text: bytes) -> None:
        assert self._serving.stdin is not None
        self._serving.stdin.write(text)
        self._serving.stdin.flush()

    def _line(self) -> bytes:
        assert self._serving.stdout is not None
        return self._serving.stdout.readline()


@contextmanager
def workers(program: Path) -> Generator[Workers]:
    with subprocess.Popen(
        [sys.executable, program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=this_tree(),
    ) as serving:
        yield Workers(serving)


def lives(number: int) -> bool:
    """Whether a worker has not ended yet."""
    return _state(number) not in {"Z", ""}


def stands_still(number: int) -> bool:
    """Whether it was stopped, by itself or by somebody else."""
    return _state(number) == "T"


def _state(number: int) -> str:
    try:
        return Path(f"/proc/{number}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return ""


def serve(kind: type[_JobT], run: Callable[[_JobT], None]) -> None:
    """A worker for each job; its number at once, and when asked how it ended."""
    for line in sys.stdin:
        job = msgspec.json.decode(line, type=kind)
        number = os.fork()
        if number == 0:
            status = 1
            try:
                run(job)
                status = 0
            except BaseException:  # noqa: BLE001 - it is told, and a fork of ours must not go on
                traceback.print_exc()
            os._exit(status)
        os.write(1, f"{number}\n".encode())
        if not sys.stdin.readline():
            os.kill(number, signal.SIGKILL)  # nobody asks any more
        os.write(1, f"{os.waitpid(number, 0)[1]}\n".encode())
