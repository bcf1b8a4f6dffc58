"""Tables where a row is a line: what a narrow screen has no room for is dropped or cut."""

from collections.abc import Sequence
from datetime import UTC, datetime

from holdfast.contract.truncate import cut_text

_BETWEEN = 3
_EDGES = 2
_LAST_AT_LEAST = 8
"""What the last column, which says the most, gets before another one is dropped."""

Rows = Sequence[Sequence[str]]


def narrowed(
    headings: Sequence[str],
    rows: Rows,
    width: int | None,
    dropped_first: Sequence[str],
    last_wants: int = _LAST_AT_LEAST,
) -> tuple[Sequence[str], Rows]:
    """The table for a screen of this width; None: there is no end to it.

    ``last_wants``: so much the last column gets, as long as others can be dropped for it.
    """
    if width is None:
        return headings, rows
    for name in dropped_first:
        if _taken(headings, rows) + last_wants <= width:
            break
        at = headings.index(name)
        headings, *rows = [_without(line, at) for line in (headings, *rows)]
    over = _taken(headings, rows) + _LAST_AT_LEAST - width
    if over > 0:
        longest = max(len(line[0]) for line in (headings, *rows)) - over
        rows = [(middle_cut(row[0], longest), *row[1:]) for row in rows]
    room = max(width - _taken(headings, rows), 1)
    return headings, [(*row[:-1], end_cut(row[-1], room)) for row in rows]


def _taken(headings: Sequence[str], rows: Rows) -> int:
    """By all columns but the last one, and by what is between them."""
    lines = (headings, *rows)
    columns = len(headings) - 1
    widths = (max(len(line[at]) for line in lines) for at in range(columns))
    return sum(widths) + columns * _BETWEEN + _EDGES


def _without(line: Sequence[str], at: int) -> Sequence[str]:
    return (*line[:at], *line[at + 1 :])


def end_cut(text: str, characters: int) -> str:
    """A text without its end, where it is longer than this."""
    return cut_text(text, characters)


def middle_cut(text: str, characters: int) -> str:
    """A text without its middle, where it is longer than this."""
    kept = max(characters - 1, 2)
    if len(text) <= kept + 1:
        return text
    end = kept // 2
    return f"{text[: kept - end]}…{text[-end:]}"


def short_time(moment: datetime, now: datetime) -> str:
    """In UTC: the time of a moment of today, else the day and the minute."""
    at = moment.astimezone(UTC)
    if at.date() == now.astimezone(UTC).date():
        return f"{at:%H:%M:%S}"
    return f"{at:%m-%d %H:%M}" if at.year == now.year else f"{at:%Y-%m-%d}"
