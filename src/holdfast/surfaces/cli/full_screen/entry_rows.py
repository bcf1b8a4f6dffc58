"""The rows of one entry of a timeline, for so many columns. Nothing is remembered but what rows
lines of text have.
"""

import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import cast

from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.call_cards import CardLine, argument_lines
from holdfast.surfaces.cli.full_screen.entries import CallCard, Entry, Remark, Words
from holdfast.surfaces.cli.full_screen.spans import (
    EMPTY,
    Look,
    Row,
    Span,
    cut,
    shown,
    width_of,
    wrapped,
)

_RICH_LOOK = "holdfast.surfaces.cli.rich_look"
_MARK = "● "
_WITHIN = "  "
_FOLDED = 5
"""Lines that a card shows of what came of a call."""
_FOLDED_CHANGES = 12
_TAIL = 5
_LONGEST = 20_000
"""Characters of a block that are shown as they were meant: more would take too long."""
_PIECE = 1_000
_WITH_STATE = 24
"""Columns a title needs for its state to stand beside it."""


def rows_of_entry(entry: Entry, columns: int, now: float, *, chosen: bool = False) -> list[Row]:
    """All of it, with the row that stays free above it where there is one."""
    match entry:
        case Words():
            rows = _words(entry, columns)
        case CallCard():
            rows = _card(entry, columns, now, chosen=chosen)
        case Remark(line=line):
            rows = list(_line(line, columns))
        case _:
            rows = []
    return [EMPTY, *rows] if entry.apart else rows


@lru_cache(maxsize=4096)
def _broken(line: str, columns: int, look: Look, further: str) -> tuple[Row, ...]:
    return tuple(wrapped(line, columns, look, further))


def _words(entry: Words, columns: int) -> list[Row]:
    text = entry.text
    match entry.form:
        case "markdown" if len(text) <= _LONGEST:
            return [(Span(row, "rendered"),) for row in _rendered(text, columns)]
        case "person":
            rows = _text(text, columns - 2, "strong")
            return [(Span("> " if at == 0 else _WITHIN, "accent"), *r) for at, r in enumerate(rows)]
        case form:
            look: Look = "dim" if form == "thought" else "plain"
            return _text(text, columns, look)


def _text(text: str, columns: int, look: Look) -> list[Row]:
    pieces = (piece for line in text.split("\n") for piece in _pieces(line))
    return [row for piece in pieces for row in _broken(piece, columns, look, "")]


def _pieces(line: str) -> Iterator[str]:
    """A line, or where it has no end, pieces of it: only the last one is broken anew."""
    while len(line) > 2 * _PIECE:
        at = line.rfind(" ", _PIECE, 2 * _PIECE)
        at = _PIECE if at < 0 else at
        yield line[:at]
        line = line[at:].lstrip(" ")
    yield line


def _rendered(text: str, columns: int) -> list[str]:
    render = cast("Callable[..., list[str]]", import_module(_RICH_LOOK).markdown_rows)
    return render(sys.stdout, shown(text), columns, True)  # noqa: FBT003 - loaded by its name


def _line(line: CardLine, columns: int, further: str = "") -> Iterator[Row]:
    begin = line.text[: len(line.text) - len(line.text.lstrip(" "))]
    return iter(_broken(line.text.strip(), columns, line.tone, further + begin))


def _card(card: CallCard, columns: int, now: float, *, chosen: bool) -> list[Row]:
    rows = list(_title(card, columns, now, chosen=chosen))
    if card.unfolded:
        for line in argument_lines(card.call.card.untold()):
            rows += _line(CardLine(line.text, "dim"), columns, _WITHIN)
    for line in _shown_lines(card):
        rows += _line(line, columns, _WITHIN)
    return rows


def _title(card: CallCard, columns: int, now: float, *, chosen: bool) -> Iterator[Row]:
    told = card.told if card.since is None else f"{card.told} {now - card.since:.0f} s"
    state = (Span(f" · {shown(told)}", card.look),)
    beside = columns - len(_MARK) - width_of(state)
    look: Look = "chosen" if chosen else "strong"
    title = Span(shown(card.call.card.title), look)
    mark = Span(_MARK, card.look)
    if beside >= _WITH_STATE:
        yield (mark, *cut((title,), beside), *state)
        return
    yield (mark, *cut((title,), columns - len(_MARK)))
    yield cut((Span(f"{_WITHIN}{shown(told)}", card.look),), columns)


def _shown_lines(card: CallCard) -> Iterator[CardLine]:
    """What of it is shown below its title."""
    if card.tail:
        last = card.tail if card.unfolded else card.tail[-_TAIL:]
        yield from (CardLine(line, "dim") for line in last)
    if card.unfolded:
        yield from card.brought
        return
    warns = [line for line in card.brought if line.tone == "warn"]
    others = [line for line in card.brought if line.tone != "warn"]
    changes = any(line.tone in {"good", "bad"} for line in others)
    room = _FOLDED_CHANGES if changes else _FOLDED
    if len(others) <= room + 1:
        yield from others
    else:
        yield from others[:room]
        yield CardLine(f"… {counted(len(others) - room, 'more line')}", "dim")
    yield from warns
