"""One bash that runs command after command: its pipes, its answers, and noticing its end.

What it is told and how its answers read is `framing`'s part; which commands and for how long is
decided elsewhere.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from holdfast.execution.processes import framing
from holdfast.execution.processes.capture import unread
from holdfast.execution.processes.framing import Answer, AnswerReader
from holdfast.execution.processes.spawners import Spawner, Start

OPTIONS = ("--norc", "--noprofile", "-s")
_PIECE = 16 * 1024

FIRST_LOOK_SECONDS = 0.05
MOST_LOOK_SECONDS = 1.0
ENDING_SECONDS = 2.0


class Place(NamedTuple):
    """Where a shell begins."""

    program: str
    cwd: str
    environment: Mapping[str, str]


class ShellProcess:
    """A bash, from its start to its end."""

    def __init__(self, spawner: Spawner, place: Place, outputs: list[int]) -> None:
        """``outputs``: the reading ends of the pipes it prints to; they stay the caller's."""
        self.spawner = spawner
        self._loop = asyncio.get_running_loop()
        self._reader = AnswerReader(0)
        self._answered: Callable[[Answer | None], None] | None = None
        self._asked = 0
        self._look: asyncio.TimerHandle | None = None
        script, self._script = os.pipe2(os.O_CLOEXEC)
        self._answers, answers = os.pipe2(os.O_CLOEXEC)
        null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        for end in (self._script, self._answers):
            os.set_blocking(end, False)
        files = [script, null, null, answers, *outputs]
        try:
            start = Start((place.program, *OPTIONS), place.cwd, place.environment, files)
            self.ended = spawner.start(start, tell=True)
        finally:
            for end in (script, null, answers):
                os.close(end)
        self._unsent = memoryview(b"")
        self._loop.add_reader(self._answers, self._read)
        self.ended.add_done_callback(lambda _: self._settle(None))
        first = framing.FIRST_PIPE
        self._send(framing.opening(range(first, first + len(outputs))))

    def ask(self, frame: Callable[[int], str], answered: Callable[[Answer | None], None]) -> None:
        """Run a frame of this number. The answer None: it ended without one, or is about to."""
        self._asked += 1
        self._reader = AnswerReader(self._asked)
        self._answered = answered
        self._send(frame(self._asked))
        if self._look is None:
            self._look_later(FIRST_LOOK_SECONDS)

    def hang_up(self) -> None:
        """Let it read no further: it ends by itself, with the status of its last command."""
        self._unsent = memoryview(b"")
        if self._script >= 0:
            self._loop.remove_writer(self._script)
            os.close(self._script)
            self._script = -1

    async def end(self) -> None:
        """Have it end by itself, or else by force."""
        self.hang_up()
        await asyncio.wait([self.ended], timeout=ENDING_SECONDS)
        if not self.ended.done():
            self.spawner.signal(signal.SIGKILL)
            await asyncio.wait([self.ended])

    def close(self) -> None:
        """Let go of it; whoever waits is told that no answer comes."""
        self.hang_up()
        if self._answers >= 0:
            self._loop.remove_reader(self._answers)
            os.close(self._answers)
            self._answers = -1
        if self._look is not None:
            self._look.cancel()
        self._settle(None)

    def _send(self, text: str) -> None:
        self._unsent = memoryview(text.encode("utf-8", "surrogateescape"))
        self._write()

    def _write(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._script, self._unsent) :]
        except BlockingIOError:
            self._loop.add_writer(self._script, self._write)
            return
        except BrokenPipeError:
            pass  # it has ended, or reads no more: both are noticed elsewhere
        self._loop.remove_writer(self._script)

    def _read(self) -> None:
        piece = os.read(self._answers, _PIECE)
        if not piece:
            # All it had to answer with is closed: it is another program now, or has ended.
            self._loop.remove_reader(self._answers)
            return
        answer = self._reader.feed(piece)
        if answer is not None:
            self._settle(answer)

    def _settle(self, answer: Answer | None) -> None:
        if self._answered is not None:
            answered, self._answered = self._answered, None
            answered(answer)

    def _give_up(self) -> None:
        """It is of no use any more, and ends by itself, or else by force."""
        self.hang_up()
        kill = partial(self.spawner.signal, signal.SIGKILL)
        self._look = self._loop.call_later(ENDING_SECONDS, kill)

    def _look_later(self, seconds: float) -> None:
        # One timer for many commands: most are over long before it is needed.
        look = partial(self._look_whether_it_answers, self._asked, seconds)
        self._look = self._loop.call_later(seconds, look)

    def _look_whether_it_answers(self, asked: int, waited: float) -> None:
        """If it read past the answer and has given none, it does not execute what it reads."""
        self._look = None
        if self._answered is None:
            return
        passed = self._script >= 0 and not self._unsent and not unread(self._script)
        if passed and not unread(self._answers):
            self._give_up()
        elif asked == self._asked:
            self._look_later(min(2 * waited, MOST_LOOK_SECONDS))
        else:
            self._look_later(FIRST_LOOK_SECONDS)
