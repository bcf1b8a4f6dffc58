"""What a person is asked about, shown before the question: the call, why, and what it would do.

Text is written here and nothing is read; who asks is not known here.
"""

from collections.abc import Callable, Sequence

import msgspec

from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.call_cards import Card, CardLine
from holdfast.surfaces.cli.paint import Paint
from holdfast.surfaces.cli.rows import rows_of_line

Whole = Callable[[], None]
"""Shows all of what was folded."""

_LEAST = 4
"""Rows of what a call would do that are always shown."""
_CHOICES = 250
"""Characters that the answers there are take, and the question."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked about; of what a tool wants to know nothing: it asks that itself."""

    call_id: str | None = None
    card: Card | None = None
    who: str | None = None
    """Whose call it is, where it is not the agent's own."""
    reason: str = ""
    lines: Sequence[CardLine] = ()
    """What the call would do."""
    tells_change: bool = False
    """Whether the lines are what it would change."""


def show_asked(paint: Paint, asked: Asked, *, card_is_shown: bool) -> Whole | None:
    """Write it; what shows it whole, where it had to be folded."""
    if asked.who is not None:
        paint.line(f"  {asked.who}", "warn")
    if asked.card is not None and not card_is_shown:
        paint.line(f"* {asked.card.title}", "strong")
    if asked.reason:
        paint.line(f"  asks: {asked.reason}", "warn")
    columns = paint.columns
    above = 3 + len(asked.reason) // columns
    room = max(paint.height - above - 3 - _CHOICES // columns, _LEAST)
    shown = folded(asked.lines, columns, room)
    _write(paint, shown)
    return None if len(shown) == len(asked.lines) else lambda: _write(paint, asked.lines)


def folded(lines: Sequence[CardLine], columns: int, room: int) -> list[CardLine]:
    """The lines, or their beginning and their end with how many are between, in so many rows."""
    taken = [len(rows_of_line(f"  {line.text}", columns)) for line in lines]
    if sum(taken) <= room:
        return list(lines)
    half = max((room - 1) // 2, 1)
    head = _fitting(taken, half)
    tail = min(_fitting(taken[::-1], room - 1 - half), len(lines) - head)
    between = CardLine(f"… {counted(len(lines) - head - tail, 'more line')}; w shows all", "warn")
    return [*lines[:head], between, *lines[len(lines) - tail :]]


def _fitting(taken: Sequence[int], room: int) -> int:
    """How many lines there is room for, at least one."""
    used = 0
    for number, rows in enumerate(taken):
        used += rows
        if used > room:
            return max(number, 1)
    return len(taken)


def _write(paint: Paint, lines: Sequence[CardLine]) -> None:
    for line in lines:
        paint.line(f"  {line.text}", line.tone)
