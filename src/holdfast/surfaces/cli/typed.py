"""A line that a person types at a terminal, after they have been shown what is wanted.

A program that was stopped and goes on shows that again. A terminal that was closed is no answer:
it is as if the signal that tells of it had come.
"""

import errno
import shutil
import signal
import termios
import threading
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TextIO

from anyio import (
    CancelScope,
    create_task_group,
    open_signal_receiver,
    sleep_forever,
    wait_readable,
)

from holdfast.surfaces.cli.rows import rows_of_line


class Typing:
    """One keyboard and one screen."""

    def __init__(self, answers: TextIO, questions: TextIO) -> None:
        self._answers = answers
        self._questions = questions

    def forget(self) -> None:
        """What was typed before the question was there is no answer to it."""
        with suppress(termios.error):
            termios.tcflush(self._answers.fileno(), termios.TCIFLUSH)

    def show(self, *lines: str) -> None:
        """Lines; at a terminal broken between words."""
        self._questions.write(self._shown(lines))

    async def line(self, prompt: str, asked: tuple[str, ...] = ()) -> str | None:
        """What is typed; None: nobody is there. ``asked``: shown again when the program goes on."""
        again = f"\n{self._shown(asked)}{prompt}"
        showing = CancelScope()
        async with create_task_group() as group:
            with _continued() as continued:
                group.start_soon(self._show_again, showing, continued, again)
                self._write(prompt)
                # Waiting here and not in readline: an interrupt can then stop it.
                await wait_readable(self._answers.fileno())
                showing.cancel()
        try:
            line = self._answers.readline()
        except OSError:
            line = ""
        if line:
            return line
        if (
            is_closed(self._answers.fileno())
            and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
        ):
            signal.raise_signal(signal.SIGHUP)
            await sleep_forever()
        self._write("\n")
        return None

    async def _show_again(
        self, showing: CancelScope, continued: AsyncIterator[int] | None, text: str
    ) -> None:
        if continued is not None:
            with showing:
                async for _ in continued:
                    self._write(text)

    def _shown(self, lines: tuple[str, ...]) -> str:
        if not self._questions.isatty():
            return "".join(f"{line}\n" for line in lines)
        columns = shutil.get_terminal_size().columns - 1
        return "".join(f"{row}\n" for line in lines for row in rows_of_line(line, columns))

    def _write(self, text: str) -> None:
        with suppress(OSError):
            self._questions.write(text)
            self._questions.flush()


def is_closed(descriptor: int) -> bool:
    """Whether it was a terminal, and is none any more."""
    try:
        termios.tcgetattr(descriptor)
    except termios.error as problem:
        return problem.args[0] == errno.EIO  # what never was one says otherwise
    return False


def _continued() -> AbstractContextManager[AsyncIterator[int] | None]:
    """Tells whenever the program goes on after it was stopped; only the main thread is told."""
    if threading.current_thread() is threading.main_thread():
        return open_signal_receiver(signal.SIGCONT)
    return nullcontext()
