"""Frames written to a terminal: only what is not there already.

The one place that knows how a look is written. Whatever a row holds, nothing of it but colours
reaches the terminal as it is.
"""

import re
from collections.abc import Callable, Mapping

from holdfast.surfaces.cli.full_screen.layout import Frame
from holdfast.surfaces.cli.full_screen.spans import Look, Row, Span
from holdfast.surfaces.cli.looks import printable

_CODES: Mapping[Look, str] = {
    "plain": "",
    "dim": "\x1b[2m",
    "strong": "\x1b[1m",
    "good": "\x1b[32m",
    "bad": "\x1b[31m",
    "warn": "\x1b[33m",
    "accent": "\x1b[36m",
    "chosen": "\x1b[1;7m",
}
_OFF = "\x1b[0m"
_COLOURS = re.compile(r"(\x1b\[[0-9;]*m)")
_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
"""What is between is shown at once, by terminals that can."""
_LEAST_ROWS = 3
_MOST_ROWS = 12
"""By how many rows it is looked whether others moved up."""
_LEAST = 4
"""Characters at the beginning of a row that are worth being left as they are."""


class Drawing:
    """What stands on the screen."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._rows: list[str] = []
        self._cursor: tuple[int, int] | None = None
        self.forget()

    def forget(self) -> None:
        """Nobody knows what stands there: the next frame is written whole."""
        self._rows = []
        self._whole = True

    def show(self, frame: Frame) -> None:
        """Have this stand there."""
        rows = [self._written(frame, at) for at in range(len(frame.rows))]
        if self._whole or len(rows) != len(self._rows):
            self._whole = True
            parts, old = ["\x1b[?25l\x1b[H\x1b[2J"], [""] * len(rows)
        else:
            parts, old = _scrolled(self._rows, rows)
        changes = zip(old, rows, strict=True)
        parts += [_change(at, *both) for at, both in enumerate(changes, 1) if both[0] != both[1]]
        if not parts and frame.cursor == self._cursor:
            return
        hides = [] if self._cursor is None or self._whole else ["\x1b[?25l"]
        shows: list[str] = []
        if frame.cursor is not None:
            row, column = frame.cursor
            shows.append(f"\x1b[{row + 1};{column + 1}H\x1b[?25h")
        self._write("".join([_BEGIN, *hides, *parts, *shows, _END]))
        self._rows, self._cursor, self._whole = rows, frame.cursor, False

    def _written(self, frame: Frame, at: int) -> str:
        left = _row(frame.rows[at])
        beside = frame.beside[at] if at < len(frame.beside) else ()
        if not beside:
            return left
        right = _row((Span("│ ", "dim"), *beside))
        return f"{left}\x1b[{frame.column}G{right}"


def _scrolled(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """What moves rows up that are further up now; and what stands there then."""
    unlike = [at for at, (mine, yours) in enumerate(zip(old, new, strict=True)) if mine != yours]
    if len(unlike) < _LEAST_ROWS:
        return [], old
    first, end = unlike[0], unlike[-1] + 1
    for by in range(1, min(_MOST_ROWS, end - first - _LEAST_ROWS) + 1):
        moved = [*old[first + by : end], *[""] * by]
        stay = sum(mine != yours for mine, yours in zip(moved, new[first:end], strict=True))
        if stay <= by + _LEAST_ROWS and stay * 2 < len(unlike):
            # Lines are deleted: every terminal can do that, and not every one can scroll.
            told = f"\x1b[{first + 1};{end}r\x1b[{first + 1};1H\x1b[{by}M\x1b[r"
            return [told], [*old[:first], *moved, *old[end:]]
    return [], old


def _change(number: int, old: str, new: str) -> str:
    """What makes one row of another."""
    kept = _alike(old, new)
    if kept < _LEAST or not old[:kept].isascii() or "\x1b" in old[:kept]:
        kept = 0
    # First of all: behind a row that is full it would take its last character.
    erase = "" if kept == len(old) else "\x1b[K"
    return f"\x1b[{number};{kept + 1}H{erase}{new[kept:]}"


def _alike(old: str, new: str) -> int:
    """How many characters at the beginning are the same."""
    pairs = zip(old, new, strict=False)
    most = min(len(old), len(new))
    return next((at for at, (mine, yours) in enumerate(pairs) if mine != yours), most)


def _row(row: Row) -> str:
    return "".join(map(_span, row))


def _span(span: Span) -> str:
    if span.look == "rendered":
        pieces = _COLOURS.split(span.text)
        text = "".join(one if at % 2 else _one_row(one) for at, one in enumerate(pieces))
        return f"{text}{_OFF}" if len(pieces) > 1 else text
    text = _one_row(span.text)
    code = _CODES[span.look] if text else ""
    return f"{code}{text}{_OFF}" if code else text


def _one_row(text: str) -> str:
    return printable(text).replace("\n", " ").replace("\t", " ")
