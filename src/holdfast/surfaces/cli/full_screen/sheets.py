"""What lies over a timeline while a person is wanted: keys in, rows out, and at last an answer.

What was typed for something else is no answer: a sheet that comes up while somebody types listens
only once they have paused. What becomes of an answer is not known here.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from holdfast.surfaces.cli.full_screen.keys import Key
from holdfast.surfaces.cli.full_screen.line_input import LineInput
from holdfast.surfaces.cli.full_screen.spans import EMPTY, Look, Row, Span, cut, wrapped

PAUSE_SECONDS = 0.5
_WITHIN = "  "


class Seen(NamedTuple):
    """What a sheet looks like, and where in it somebody types."""

    rows: list[Row]
    cursor: tuple[int, int] | None = None
    """A row of it, and a column."""


class Sheet(Protocol):
    """Lies over the timeline."""

    @property
    def is_done(self) -> bool:
        """Whether it is answered."""
        ...

    @property
    def is_long(self) -> bool:
        """Whether it has more rows than are seen, to be gone through."""
        ...

    def press(self, key: Key, now: float) -> None:
        """Obey a key."""
        ...

    def seen(self, columns: int, height: int, now: float) -> Seen:
        """Its rows, at most so many."""
        ...


class Pause:
    """Waits until somebody who types something else has paused."""

    def __init__(self, now: float, last_key: float) -> None:
        self._until = max(now, last_key + PAUSE_SECONDS)

    def is_over(self, now: float) -> bool:
        """Whether keys count."""
        return now >= self._until

    def hears(self, now: float) -> bool:
        """A key came; whether it counts. One that does not makes the pause longer."""
        if self.is_over(now):
            return True
        self._until = now + PAUSE_SECONDS
        return False


class Body:
    """Lines that may be more than there is room for."""

    def __init__(self) -> None:
        self._first = 0
        self._page = 1
        self.is_long = False
        """Whether there was more than room for it."""

    def take(self, key: Key) -> bool:
        """Obey a key; whether it means something here."""
        match key.name:
            case "page-up":
                self._first -= self._page
            case "page-down":
                self._first += self._page
            case _:
                return False
        return True

    def seen(self, rows: Sequence[Row], height: int) -> list[Row]:
        """As much as there is room for; a last row says how much more there is."""
        self.is_long = len(rows) > height
        if not self.is_long:
            return list(rows)
        room = max(height - 1, 1)
        self._page = max(room - 1, 1)
        self._first = max(min(self._first, len(rows) - room), 0)
        end = self._first + room
        told = f"rows {self._first + 1}-{end} of {len(rows)} · PageUp and PageDown"
        return [*rows[self._first : end], (Span(told, "warn"),)][-max(height, 1) :]


def ruled(title: str, columns: int, look: Look = "warn") -> Row:
    """A line across, with a title in it."""
    begin = f"── {title} "
    return cut((Span(begin + "─" * max(columns - len(begin), 0), look),), columns)


def offered(
    marks: str, text: str, columns: int, *, chosen: bool, look: Look = "plain"
) -> Iterator[Row]:
    """Something to choose, with its mark before it."""
    further = " " * len(marks)
    for at, row in enumerate(wrapped(text, columns - len(marks))):
        shown = tuple(Span(one.text, "chosen" if chosen else look) for one in row)
        yield (Span(marks if at == 0 else further, "accent"), *shown)


def typed_row(before: str, line: LineInput, columns: int, look: Look = "accent") -> Seen:
    """A line that somebody types in, in one row."""
    text, column = line.seen(max(columns - len(before), 1))
    return Seen([(Span(before, look), Span(text))], (0, len(before) + column))


def stacked(parts: Sequence[Seen]) -> Seen:
    """One below the other."""
    rows: list[Row] = []
    cursor: tuple[int, int] | None = None
    for part in parts:
        if part.cursor is not None:
            cursor = len(rows) + part.cursor[0], part.cursor[1]
        rows += part.rows
    return Seen(rows, cursor)


def spaced(rows: Sequence[Row]) -> list[Row]:
    """With a row that stays free above."""
    return [EMPTY, *rows]
