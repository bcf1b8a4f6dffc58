"""Asking the person at the terminal what a tool wants to know. Without one nobody is asked."""

import sys
from typing import TextIO

from holdfast.contract.person import Asker, Inquiry, PersonQuestion, Replies
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.person import person_here
from holdfast.surfaces.cli.screen import one_line
from holdfast.surfaces.cli.typed import Typing


class TerminalPerson:
    """Puts one question after the other on a terminal and reads a line for each."""

    def __init__(self, answers: TextIO, questions: TextIO) -> None:
        self._typing = Typing(answers, questions)

    async def __call__(self, inquiry: Inquiry, /) -> Replies | None:
        """Wait for the answers; a closed terminal gives none."""
        self._typing.forget()
        given: list[tuple[str, ...]] = []
        for question in inquiry.questions:
            answer = await self._answer(question)
            if answer is None:
                return None
            given.append(answer)
        return Replies(answers=tuple(given), by=person_here())

    async def _answer(self, question: PersonQuestion) -> tuple[str, ...] | None:
        shown = _shown(question)
        self._typing.show(*shown)
        while True:
            line = await self._typing.line("> ", shown)
            if line is None:
                return None
            if line.strip():
                return chosen(question, line.strip())
            self._typing.show("An answer is wanted; end of input (Ctrl-D) skips it.")


def chosen(question: PersonQuestion, line: str) -> tuple[str, ...]:
    """What a line means: numbers of options, or words of their own."""
    labels = {str(number): one.label for number, one in enumerate(question.options, 1)}
    if not question.multi_select:
        return (labels.get(line, line),)
    parts = [part.strip() for part in line.split(",")]
    if not all(part in labels for part in parts):
        return (line,)
    return tuple(dict.fromkeys(labels[part] for part in parts))


def _shown(question: PersonQuestion) -> tuple[str, ...]:
    header = "" if question.header is None else f"{one_line(question.header)}: "
    lines = [f"{header}{one_line(question.question)}"]
    for number, one in enumerate(question.options, 1):
        meaning = "" if one.description is None else f" - {one_line(one.description)}"
        lines.append(f"  {number}  {one_line(one.label)}{meaning}")
    if question.options:
        how = "numbers with commas" if question.multi_select else "a number"
        lines.append(f"  ({how}, or words of your own)")
    return tuple(map(printable, lines))


def asker_here() -> Asker | None:
    """Whoever can be asked: the person at the terminal; None when nobody is there."""
    if sys.stdin is None or not sys.stdin.isatty() or not sys.stderr.isatty():
        return None
    return TerminalPerson(sys.stdin, sys.stderr)
