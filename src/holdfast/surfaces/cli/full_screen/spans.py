"""Rows of the screen, as pieces of text with a look each. What a look is written as is not known
here, and no piece can steer a terminal.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.paint import Tone
from holdfast.surfaces.cli.rows import fitting, rows_of, text_width

Look = Tone | Literal["accent", "chosen", "rendered"]
"""`chosen`: where somebody is; `rendered`: it holds its own colours, and nothing else."""

_TAB = 4


class Span(NamedTuple):
    """A piece of a row."""

    text: str
    look: Look = "plain"


Row = tuple[Span, ...]
EMPTY: Row = ()


def shown(text: str) -> str:
    """A text as it may be shown."""
    return printable(text).expandtabs(_TAB)


def wrapped(text: str, columns: int, look: Look = "plain", further: str = "") -> Iterator[Row]:
    """The rows of a text, broken between words; each begins with ``further``."""
    room = max(columns - len(further), 1)
    for row in rows_of(shown(text), room):
        yield (Span(f"{further}{row}", look),)


def width_of(row: Row) -> int:
    """How many columns a row takes; only of rows without `rendered`."""
    return sum(text_width(one.text) for one in row)


def cut(row: Row, columns: int) -> Row:
    """As much of a row as fits."""
    kept: list[Span] = []
    left = columns
    for one in row:
        text = fitting(one.text, left)
        kept.append(Span(text, one.look))
        left -= text_width(text)
        if len(text) < len(one.text):
            break
    return tuple(kept)


def spread(left: Row, right: Row, columns: int) -> Row:
    """Both ends of a row; where there is no room for both, the right one is left out."""
    free = columns - width_of(left) - width_of(right)
    if free < 1:
        return cut(left, columns)
    return (*left, Span(" " * free), *right)
