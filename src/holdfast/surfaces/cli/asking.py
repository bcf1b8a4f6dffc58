"""Asking the person at the terminal whether a call may run. Without a terminal nobody is asked."""

import sys
import termios
from contextlib import suppress
from typing import TextIO

from anyio import wait_readable

from holdfast.contract.call import Ask
from holdfast.contract.json_value import encode_json
from holdfast.contract.ports import Answer, Approver
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.screen import indented, one_line

_YES = {"y", "yes"}


class TerminalApprover:
    """Puts the question on a terminal and reads one line. Anything but yes is no."""

    def __init__(self, answers: TextIO, questions: TextIO) -> None:
        self._answers = answers
        self._questions = questions

    async def __call__(self, ask: Ask, /) -> Answer | None:
        """Wait for an answer; a closed terminal gives none."""
        # What was typed before the question was there is no answer to it.
        with suppress(termios.error):
            termios.tcflush(self._answers.fileno(), termios.TCIFLUSH)
        prepared = ask.prepared
        shown = printable(indented(encode_json(prepared.arguments)))
        self._questions.write(f"{one_line(ask.reason)}\n{prepared.tool.name} {shown}\n")
        self._questions.write("Run it? [y/N] ")
        self._questions.flush()
        # Waiting here and not in readline: an interrupt can then stop it.
        await wait_readable(self._answers.fileno())
        line = self._answers.readline()
        if not line:
            return None
        return Answer(allowed=line.strip().lower() in _YES, by="the person at the terminal")


async def nobody(_ask: Ask, /) -> Answer | None:
    """Nobody is there."""
    return None


def approver_here() -> Approver:
    """Whoever can be asked: the person at the terminal, or nobody."""
    if sys.stdin is None or not sys.stdin.isatty() or not sys.stderr.isatty():
        return nobody
    return TerminalApprover(sys.stdin, sys.stderr)
