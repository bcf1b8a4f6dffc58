"""Writing to whoever watches: lines in a tone, text that comes in pieces, rows that are taken back,
and one line that is written over and over.

At a terminal nothing is broken within a word. Colours are for those who do not refuse them. What
is shown is not known here.
"""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Literal, TextIO, cast

from holdfast.surfaces.cli.colours import unwanted
from holdfast.surfaces.cli.hang_up import Stage
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.rows import fitting, rows_of, rows_of_line, text_width

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
_TO_THE_END = "\x1b[J"
_RICH_LOOK = "holdfast.surfaces.cli.rich_look"
_Rendered = Callable[..., list[str]]


class Paint:
    """A place to write to."""

    def __init__(self, out: TextIO, environment: Mapping[str, str] | None = None) -> None:
        variables = os.environ if environment is None else environment
        self.is_terminal = out.isatty() and variables.get("TERM") != "dumb"
        self._stream = out
        self._out = Stage(out) if out.isatty() else out
        self._colours = self.is_terminal and unwanted(variables) is None
        self._status = ""
        self._row = ""
        """What of a text in pieces stands in the last row."""
        self._is_open = False
        """Whether a line was begun and not ended."""
        self._taken_back: list[str] = []
        """Rows that are replaced by what comes next."""

    @property
    def columns(self) -> int:
        """How many there are in a row, of which the last one stays free."""
        return max(shutil.get_terminal_size().columns, 20) - 1

    @property
    def height(self) -> int:
        """How many rows there are."""
        return max(shutil.get_terminal_size().lines, 5)

    def line(self, text: str, tone: Tone = "plain") -> None:
        """A line of its own, in as many rows as it takes."""
        self.end_line()
        shown = printable(text).expandtabs(4)
        for row in rows_of_line(shown, self.columns) if self.is_terminal else [shown]:
            self._write(row, tone)
            self._out.write("\n")
        self._out.flush()

    def piece(self, text: str, tone: Tone = "plain") -> None:
        """A piece of a text that goes on."""
        if not text:
            return
        self._clear()
        self.take_back()
        new = printable(text).expandtabs(4)
        if self.is_terminal:
            self._rows(rows_of(self._row + new, self.columns), tone)
        else:
            self._write(new, tone)
        self._is_open = not new.endswith("\n")
        self._out.flush()

    def end_line(self) -> None:
        """Begin at the left, whatever was there."""
        self._clear()
        self.take_back()
        if self._is_open:
            self._out.write("\n")
        self._row, self._is_open = "", False

    def break_off(self) -> None:
        """Begin at the left, below what somebody else wrote."""
        self._out.write("\n")

    def for_now(self, text: str) -> None:
        """A text that whatever comes next replaces: as much of its end as the screen holds."""
        most = self.height - 2
        lines = printable(text).expandtabs(4).split("\n")
        new = rows_of("\n".join(lines[-most:]), self.columns)[-most:]
        old = self._taken_back
        self._clear()
        same = min(_alike(old, new), max(len(old) - 1, 0), len(new) - 1)
        goes_on = bool(old) and same == len(old) - 1 and new[same].startswith(old[same])
        if old and not goes_on:
            self._up(len(old) - 1 - same)
        first = new[same][len(old[same]) :] if goes_on else new[same]
        self._out.write("\n".join([first, *new[same + 1 :]]))
        self._taken_back = new
        self._out.flush()

    def take_back(self) -> None:
        """As if what was shown for now had never been there."""
        if self._taken_back:
            self._up(len(self._taken_back) - 1)
            self._taken_back = []

    def markdown(self, text: str, *, apart: bool) -> None:
        """A text as its writer meant it to look. ``apart``: below a row that stays free."""
        self.end_line()
        render = cast("_Rendered", import_module(_RICH_LOOK).markdown_rows)
        rows = render(self._stream, printable(text).expandtabs(4), self.columns, self._colours)
        self._out.write("".join(f"{row}\n" for row in ([""] if apart and rows else []) + rows))
        self._out.flush()

    def status(self, text: str) -> None:
        """What is going on, in place of what was shown so before; at terminals alone."""
        if not self.is_terminal or self._is_open or self._taken_back:
            return
        line = fitting(printable(" ".join(text.split())), self.columns)
        if line != self._status:
            self._clear()
            self._write(line, "dim")
            self._out.flush()
            self._status = line

    def _rows(self, rows: list[str], tone: Tone) -> None:
        first, *others = rows
        if not first.startswith(self._row.rstrip(" ")):  # its last word has to go down
            self._out.write(f"\r{_TO_THE_END}")
            self._row = ""
        self._write("\n".join([first[len(self._row) :], *others]), tone)
        self._row = rows[-1]

    def _write(self, text: str, tone: Tone) -> None:
        code = _CODES[tone] if self._colours and text else ""
        self._out.write(f"{code}{text}{_OFF}" if code else text)

    def _up(self, rows: int) -> None:
        """To the left of a row further up, with nothing there and below it."""
        self._out.write(f"\x1b[{rows}A\r{_TO_THE_END}" if rows else f"\r{_TO_THE_END}")

    def _clear(self) -> None:
        if self._status:
            self._out.write(f"\r{' ' * text_width(self._status)}\r")
            self._status = ""


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many rows at the beginning are the same."""
    pairs = zip(one, other, strict=False)
    same = next((at for at, (mine, yours) in enumerate(pairs) if mine != yours), None)
    return min(len(one), len(other)) if same is None else same
