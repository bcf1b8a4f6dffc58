"""May this call run? Shows it whole, with why it is asked, and takes one of the answers there are.

The answer is a line as it would be typed at an ordinary terminal; what that means is known there.
Nobody says yes to what has no room to be seen.
"""

from typing import NamedTuple

from holdfast.contract.call import Ask
from holdfast.contract.rules import Remember
from holdfast.surfaces.cli.asked_about import Asked
from holdfast.surfaces.cli.full_screen.keys import Key
from holdfast.surfaces.cli.full_screen.line_input import LineInput
from holdfast.surfaces.cli.full_screen.sheets import (
    Body,
    Pause,
    Seen,
    offered,
    ruled,
    spaced,
    stacked,
    typed_row,
)
from holdfast.surfaces.cli.full_screen.spans import (
    EMPTY,
    Look,
    Row,
    Span,
    cut,
    width_of,
    wrapped,
)

_WITHIN = "  "
_LONGER: tuple[tuple[Remember, str, str], ...] = (
    ("session", "s", "for this session"),
    ("project", "p", "for this project"),
)
_NOTE = "r"
_WORDS = {
    "y": "once",
    "s": "session",
    "p": "project",
    "n": "no",
    _NOTE: "no, why",
    "x": "never",
}
_FEW_ROWS = 4
_BODY_AT_LEAST = 3
_NO_ROOM = "enlarge the window to see the call"
_SEEN_FROM = 2
"""Rows with which something of the call is seen."""
_BODY_WANTS = 10
"""With fewer rows for the call, the answers stand side by side."""


class Choice(NamedTuple):
    """An answer that can be given."""

    key: str
    line: str
    """As it would be typed; the one that takes words ends with a colon."""
    says: str


def choices_of(ask: Ask) -> tuple[Choice, ...]:
    """The answers to this question."""
    longer = [one for one in _LONGER if one[0] in ask.offers]
    wider = " or ".join(ask.wider)
    found = [Choice("y", "y", "yes, once")]
    found += [Choice(key, key, f"yes, {words}") for _, key, words in longer]
    if wider:
        found += [
            Choice(key.upper(), f"{key}*", f"yes, {words}, and all that fits {wider}")
            for _, key, words in longer
        ]
    found.append(Choice("n", "n", "no: the run ends"))
    found.append(Choice(_NOTE, "n:", "no, and tell the model why"))
    if "session" in ask.offers:
        found.append(Choice("x", "never", "no, and never in this session"))
    return tuple(found)


def _in_a_word(choice: Choice) -> str:
    """What stands for it where there is little room."""
    return _WORDS.get(choice.key.lower(), "") + ("*" if choice.key.isupper() else "")


class ApprovalSheet:
    """One question."""

    def __init__(self, ask: Ask, asked: Asked, pause: Pause) -> None:
        self._asked = asked
        self._uses = tuple(
            f"{one.capability or 'uses'}: {one.target}{f' ({one.doubt})' if one.doubt else ''}"
            for one in ask.uses
            if one.target not in asked.reason
        )
        """What is in question, as far as the reason does not name it."""
        self._choices = choices_of(ask)
        self._pause = pause
        self._at: int | None = None
        """The one somebody is at: none of them until they choose."""
        self._note: LineInput | None = None
        self._body = Body()
        self._rows: tuple[int, list[Row]] = (0, [])
        """What is told, for so many columns: a change may be long."""
        self._has_room = True
        """Whether something of the call is seen."""
        self.line: str | None = None
        """What they answer."""

    @property
    def is_done(self) -> bool:
        """Whether it is answered."""
        return self.line is not None

    @property
    def is_long(self) -> bool:
        """Whether what is asked about has more rows than are seen."""
        return self._body.is_long

    def press(self, key: Key, now: float) -> None:
        """Obey a key."""
        if not self._pause.hears(now) or self._body.take(key):
            return
        if self._note is not None:
            self._write(self._note, key)
            return
        match key.name:
            case "down" | "tab" | "right":
                self._move(1)
            case "up" | "back-tab" | "left":
                self._move(-1)
            case "enter" if self._at is not None:
                self._take(self._choices[self._at])
            case "text":
                for one in self._choices:
                    if one.key == key.text:
                        self._take(one)
            case _:
                pass

    def seen(self, columns: int, height: int, now: float) -> Seen:
        """Its rows, at most so many."""
        self._has_room = height >= _SEEN_FROM
        if not self._has_room and self._note is None:
            return Seen([cut((Span(_NO_ROOM, "warn"),), columns)])
        below = self._answers(columns, now)
        if height - len(below.rows) < _BODY_WANTS and self._note is None:
            below = self._narrow_answers(columns, below)
        room = max(height - len(below.rows) - 2, _BODY_AT_LEAST)
        if self._rows[0] != columns:
            self._rows = columns, self._told(columns)
        body = self._body.seen(self._rows[1], room)
        above = Seen([ruled("may this run?", columns), *body])
        return stacked([above, below])

    def _told(self, columns: int) -> list[Row]:
        """The call, why it is asked, and what it would do."""
        asked, rows = self._asked, list[Row]()
        if asked.who is not None:
            rows += wrapped(asked.who, columns, "warn")
        if asked.card is not None:
            rows += wrapped(f"* {asked.card.title}", columns, "strong")
        rows += wrapped(f"asks: {asked.reason}", columns, "warn")
        for use in self._uses:
            rows += wrapped(use, columns, "dim", _WITHIN)
        for line in asked.lines:
            rows += wrapped(line.text, columns, line.tone, _WITHIN)
        return rows

    def _answers(self, columns: int, now: float) -> Seen:
        if self._note is not None:
            told = Span("Enter sends it, Esc goes back", "dim")
            line = typed_row("no: ", self._note, columns)
            return stacked([Seen(spaced([])), line, Seen([(told,)])])
        if not self._pause.is_over(now):
            return Seen(spaced([(Span("(you were typing; pause, then answer)", "dim"),)]))
        rows: list[Row] = []
        for at, one in enumerate(self._choices):
            rows += offered(f" {one.key}  ", one.says, columns, chosen=at == self._at)
        return Seen(spaced(rows))

    def _narrow_answers(self, columns: int, below: Seen) -> Seen:
        """The answers in as few rows as they take; the one somebody is at, whole."""
        if len(below.rows) <= _FEW_ROWS:
            return below
        rows: list[Row] = [EMPTY, ()]
        for at, one in enumerate(self._choices):
            look: Look = "chosen" if at == self._at else "plain"
            piece = (Span(f" {one.key} ", "accent"), Span(_in_a_word(one), look), Span(" "))
            if width_of((*rows[-1], *piece)) > columns:
                rows.append(())
            rows[-1] = (*rows[-1], *piece)
        if self._at is not None:
            rows.append(cut((Span(f" {self._choices[self._at].says}", "dim"),), columns))
        return Seen(rows)

    def _move(self, by: int) -> None:
        first = 0 if by > 0 else len(self._choices) - 1
        self._at = first if self._at is None else (self._at + by) % len(self._choices)

    def _take(self, choice: Choice) -> None:
        if choice.says.startswith("yes") and not self._has_room:
            return
        if choice.line.endswith(":"):
            self._note = LineInput()
        else:
            self.line = choice.line

    def _write(self, note: LineInput, key: Key) -> None:
        match key.name:
            case "enter" if note.text.strip():
                self.line = f"n: {' '.join(note.text.split())}"
            case "escape":
                self._note = None
            case _:
                note.take(key)
