"""Writing to whoever watches: lines in a tone, text that comes in pieces, and one line that is
written over and over.

Colours are for terminals, and for those who did not say NO_COLOR. What is shown is not known here.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Literal, TextIO, cast
from unicodedata import category

from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.progress import fitting, text_width

Tone = Literal["plain", "dim", "strong", "good", "bad", "warn"]
_CODES: Mapping[Tone, str] = {
    "plain": "",
    "dim": "\x1b[2m",
    "strong": "\x1b[1m",
    "good": "\x1b[32m",
    "bad": "\x1b[31m",
    "warn": "\x1b[33m",
}
_OFF = "\x1b[0m"
_RICH_LOOK = "holdfast.surfaces.cli.rich_look"
_UNSURE = frozenset({"Mn", "Me", "Cf", "So"})
"""Kinds of characters whose width terminals do not agree on."""


class Paint:
    """A place to write to."""

    def __init__(self, out: TextIO, environment: Mapping[str, str] | None = None) -> None:
        variables = os.environ if environment is None else environment
        self._out = out
        self.is_terminal = out.isatty() and variables.get("TERM") != "dumb"
        self._colours = self.is_terminal and not variables.get("NO_COLOR")
        self._status = ""
        self._is_open = False
        """Whether a line was begun and not ended."""

    def line(self, text: str, tone: Tone = "plain") -> None:
        """A line of its own."""
        self.end_line()
        self._write(printable(text).expandtabs(4), tone)
        self._out.write("\n")
        self._out.flush()

    def piece(self, text: str, tone: Tone = "plain") -> None:
        """A piece of a text that goes on."""
        if not text:
            return
        self._clear()
        self._write(shown(text), tone)
        self._is_open = not text.endswith("\n")
        self._out.flush()

    def end_line(self) -> None:
        """Begin at the left, whatever was there."""
        self._clear()
        if self._is_open:
            self._out.write("\n")
            self._is_open = False

    def status(self, text: str) -> None:
        """What is going on, in place of what was shown so before; at terminals alone."""
        if not self.is_terminal or self._is_open:
            return
        line = fitting(printable(" ".join(text.split())), self._size()[0] - 1)
        if line != self._status:
            self._clear()
            self._write(line, "dim")
            self._out.flush()
            self._status = line

    def again(self, text: str) -> None:
        """What was just written in pieces once more, as its writer meant it to look.

        Only where it is still on the screen as a whole and it is certain how many rows it takes.
        """
        columns, rows = self._size()
        taken = rows_of(shown(text), columns) if self._colours else None
        if taken is None or taken >= rows:
            return
        self.end_line()
        self._out.write(f"\x1b[{taken}A\r\x1b[J")
        make = cast("Callable[[TextIO], object]", import_module(_RICH_LOOK).RichLook)
        look = make(self._out)
        cast("Callable[[str], None]", getattr(look, "markdown"))(shown(text))  # noqa: B009 - rich_look is loaded here alone
        self._out.flush()

    def _write(self, text: str, tone: Tone) -> None:
        code = _CODES[tone] if self._colours else ""
        self._out.write(f"{code}{text}{_OFF}" if code else text)

    def _clear(self) -> None:
        if self._status:
            self._out.write(f"\r{' ' * text_width(self._status)}\r")
            self._status = ""

    def _size(self) -> tuple[int, int]:
        size = shutil.get_terminal_size()
        return max(size.columns, 20), size.lines


def shown(text: str) -> str:
    """A text in pieces, without what could steer a terminal."""
    return printable(text).expandtabs(4)


def rows_of(text: str, columns: int) -> int | None:
    """How many rows of a terminal a text takes; None: terminals do not agree on it."""
    if not text.isascii() and any(category(one) in _UNSURE for one in set(text)):
        return None
    lines = text.removesuffix("\n").split("\n")
    return sum(_rows(line, columns) for line in lines)


def _rows(line: str, columns: int) -> int:
    rows, at = 1, 0
    for character in line:
        width = text_width(character)
        if at + width > columns:
            rows, at = rows + 1, 0
        at += width
    return rows
