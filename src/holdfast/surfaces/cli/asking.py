"""Asking the person at the terminal whether a call may run. Without a terminal nobody is asked."""

import sys
import termios
from contextlib import suppress
from typing import TextIO

from anyio import wait_readable

from holdfast.contract.call import Ask
from holdfast.contract.json_value import encode_json
from holdfast.contract.ports import Answer, Approver
from holdfast.contract.rules import Remember
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.screen import indented, one_line

_ANSWERS: dict[str, tuple[bool, Remember]] = {
    "y": (True, "once"),
    "yes": (True, "once"),
    "s": (True, "session"),
    "session": (True, "session"),
    "p": (True, "project"),
    "project": (True, "project"),
    "never": (False, "session"),
}
_OFFERED: dict[Remember, str] = {
    "session": "s = for this session",
    "project": "p = for this project",
}


class TerminalApprover:
    """Puts the question on a terminal and reads one line. Anything it does not know is no."""

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
        self._questions.write(_prompt(ask))
        self._questions.flush()
        # Waiting here and not in readline: an interrupt can then stop it.
        await wait_readable(self._answers.fileno())
        line = self._answers.readline()
        if not line:
            return None
        return _answer(line.strip().lower(), ask)


def _prompt(ask: Ask) -> str:
    longer = [_OFFERED[kind] for kind in ask.offers if kind in _OFFERED]
    if not longer:
        return "Run it? [y/N] "
    return f"Run it? [y/N; {', '.join(longer)}, never = not in this session] "


def _answer(word: str, ask: Ask) -> Answer:
    allowed, remember = _ANSWERS.get(word, (False, "once"))
    if remember not in ask.offers:
        # What was not offered is no answer; a refusal may always be meant.
        allowed, remember = False, "once"
    return Answer(allowed=allowed, by="the person at the terminal", remember=remember)


def approver_here() -> Approver | None:
    """Whoever can be asked: the person at the terminal; None when nobody is there."""
    if sys.stdin is None or not sys.stdin.isatty() or not sys.stderr.isatty():
        return None
    return TerminalApprover(sys.stdin, sys.stderr)
