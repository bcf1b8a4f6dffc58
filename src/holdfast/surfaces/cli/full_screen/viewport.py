"""The part of a timeline that is seen: where it begins, and what is laid out for it.

Only what is seen is laid out, and what was is remembered: however long a timeline is, a look at it
costs the same. How an entry looks is not known here.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from holdfast.surfaces.cli.full_screen.entries import CallCard, Entry
from holdfast.surfaces.cli.full_screen.spans import Row

Rows = Callable[..., list[Row]]
_MOST_KEPT = 500
"""Entries whose rows are remembered."""


class Place(NamedTuple):
    """A row of the timeline: which of them of which entry."""

    entry: int
    row: int


class _Kept(NamedTuple):
    rows: list[Row]
    version: int
    columns: int
    chosen: bool
    apart: bool


class Viewport:
    """What one person sees."""

    def __init__(self, rows_of_entry: Rows) -> None:
        self._rows_of_entry = rows_of_entry
        self._kept: OrderedDict[int, _Kept] = OrderedDict()
        self._entries: Sequence[Entry] = ()
        self._columns = 80
        self._now = 0.0
        self._height = 1
        self.top: Place | None = None
        """The first row that is seen; None: the last row always is."""
        self.chosen: int | None = None
        """The card that somebody is at."""

    def look(self, entries: Sequence[Entry], columns: int, height: int, now: float) -> list[Row]:
        """The rows that are seen, at most so many."""
        self._entries, self._columns, self._height = entries, columns, max(height, 1)
        self._now = now
        if not entries:
            return []
        if self.top is not None:
            self._stay()
        begin = self.top or self._moved(self._end(), -self._height)
        rows: list[Row] = []
        at, skipped = begin
        while at < len(entries) and len(rows) < self._height:
            rows += self._rows(at)[skipped:]
            at, skipped = at + 1, 0
        return rows[: self._height]

    def scroll(self, by: int) -> None:
        """So many rows down, or up."""
        if not self._entries:
            return
        begin = self.top or self._moved(self._end(), -self._height)
        self.top = self._moved(begin, by)
        self._stay()

    def obey(self, key: str) -> bool:
        """Move as a key says; whether it means that."""
        page = max(self._height - 2, 1)
        match key:
            case "up" | "down":
                self.scroll(-1 if key == "up" else 1)
            case "page-up" | "page-down":
                self.scroll(-page if key == "page-up" else page)
            case "home":
                self.to_begin()
            case "end":
                self.to_end()
            case _:
                return False
        return True

    def to_begin(self) -> None:
        """See the first row."""
        self.top = Place(0, 0) if self._entries else None

    def to_end(self) -> None:
        """See the last row, whatever comes."""
        self.top = None

    def reveal(self, entry: int) -> None:
        """See the beginning of an entry, once there was a look at it."""
        if entry >= len(self._entries):
            return
        begin = self.top or self._moved(self._end(), -self._height)
        last = self._moved(begin, self._height - 1)
        if not (begin <= Place(entry, 1) and Place(entry, 0) < last):
            self.top = self._moved(Place(entry, 0), -(self._height // 3))
            self._stay()

    def below(self) -> int:
        """How many entries are below what is seen."""
        if self.top is None:
            return 0
        return len(self._entries) - 1 - self._moved(self.top, self._height - 1).entry

    def _stay(self) -> None:
        """A view whose end is the end of all follows it from there on."""
        top = self.top
        if top is None:
            return
        entry = min(top.entry, len(self._entries) - 1)
        top = Place(entry, max(min(top.row, len(self._rows(entry)) - 1), 0))
        self.top = top if self._rows_from(top) > self._height else None

    def _rows_from(self, place: Place) -> int:
        """How many rows there are from there on, or more than are seen."""
        count = -place.row
        for at in range(place.entry, len(self._entries)):
            count += len(self._rows(at))
            if count > self._height:
                break
        return count

    def _end(self) -> Place:
        """Behind the last row."""
        last = len(self._entries) - 1
        return Place(last, len(self._rows(last)))

    def _moved(self, place: Place, by: int) -> Place:
        entry, row = place.entry, place.row + by
        while row < 0 and entry > 0:
            entry -= 1
            row += len(self._rows(entry))
        while entry < len(self._entries) - 1 and row >= (here := len(self._rows(entry))):
            entry, row = entry + 1, row - here
        return Place(entry, max(min(row, len(self._rows(entry)) - 1), 0))

    def _rows(self, at: int) -> list[Row]:
        entry = self._entries[at]
        chosen = at == self.chosen
        kept = self._kept.get(at)
        wanted = (entry.version, self._columns, chosen, entry.apart)
        runs = isinstance(entry, CallCard) and entry.since is not None
        if kept is not None and kept[1:] == wanted and not runs:
            self._kept.move_to_end(at)
            return kept.rows
        rows = self._rows_of_entry(entry, self._columns, self._now, chosen=chosen)
        self._kept[at] = _Kept(rows, *wanted)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return rows
