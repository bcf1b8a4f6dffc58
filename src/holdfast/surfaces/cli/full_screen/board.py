"""What stands on the screen of one run, and what keys do to it. What time it is, is handed in.

What follows outside (somebody speaks, a command is ended) is said as an action and done by whoever
reads the keys.
"""

from typing import Literal, NamedTuple

from holdfast.surfaces.cli.call_cards import CardLine
from holdfast.surfaces.cli.full_screen.entries import CallCard
from holdfast.surfaces.cli.full_screen.entry_rows import rows_of_entry
from holdfast.surfaces.cli.full_screen.help_rows import help_rows
from holdfast.surfaces.cli.full_screen.keys import Key
from holdfast.surfaces.cli.full_screen.layout import (
    Facts,
    Frame,
    Parts,
    Size,
    frame_of,
    header_row,
    pane_rows,
    room_of_body,
    ruled_plain,
    status_row,
    todo_count,
)
from holdfast.surfaces.cli.full_screen.line_input import LineInput
from holdfast.surfaces.cli.full_screen.sheets import Pause, Seen, Sheet, typed_row
from holdfast.surfaces.cli.full_screen.spans import Look, Row, Span, cut
from holdfast.surfaces.cli.full_screen.timeline import Timeline
from holdfast.surfaces.cli.full_screen.viewport import Viewport
from holdfast.surfaces.cli.run_view import used

_NOTICE_SECONDS = 5.0
_HINT = "? help"
_PAGES = frozenset({"page-up", "page-down"})
_CARD_HINT = "Enter unfold · t end command"


class Say(NamedTuple):
    """The person says something."""

    text: str


class End(NamedTuple):
    """A command is to be ended."""

    command: str


Action = Say | End | Literal["redraw"]


class Board:
    """One screen."""

    def __init__(self, facts: Facts, began: float) -> None:
        self.facts = facts
        self.timeline = Timeline()
        self.line = LineInput()
        self.sheet: Sheet | None = None
        self._began = began
        self._viewport = Viewport(rows_of_entry)
        self._writes = False
        self._helps = False
        self._notice = ""
        self._notice_until = began
        self._last_key = began - _NOTICE_SECONDS

    def pause(self, now: float) -> Pause:
        """For a sheet that comes up now."""
        return Pause(now, self._last_key)

    def notice(self, text: str, now: float) -> None:
        """Something about the run itself: seen at once, and kept."""
        self.timeline.remark(CardLine(f"holdfast: {text}", "warn"))
        self._note(text, now)

    def seconds(self, now: float) -> float:
        """How long it goes on."""
        return now - self._began

    def frame(self, size: Size, now: float) -> Frame:
        """What is seen now."""
        timeline, columns = self.timeline, size.columns
        pane = pane_rows(timeline.todos, [*timeline.children.values()], size)
        room = room_of_body(size, pane)
        sheet = None if self.sheet is None else self.sheet.seen(room.columns, room.rows, now)
        height = max(room.rows - (0 if sheet is None else len(sheet.rows)), 1)
        body = self._viewport.look(timeline.entries, room.columns, height, now)
        if self._helps and self.sheet is None:
            body = help_rows(room.columns)[: room.rows]
        told = used("", timeline.usage, self.seconds(now))
        if not pane and (count := todo_count(timeline.todos)):
            told = f"{told} · {count}"
        hint = _HINT if self._viewport.chosen is None else _CARD_HINT
        state, look = self._state()
        parts = Parts(
            header_row(self.facts, state, look, columns),
            body,
            sheet,
            pane,
            self._rule(columns, now),
            self._line(columns),
            status_row(told, hint if sheet is None else "", columns),
        )
        return frame_of(parts, size)

    def press(self, key: Key, now: float) -> Action | None:
        """Obey a key; what follows from it outside."""
        if key.name == "ctrl-l":
            return "redraw"
        self._last_key = now
        if self.sheet is not None:
            # Behind one that is seen as a whole, the timeline is scrolled.
            is_back = key.name in _PAGES and not self.sheet.is_long
            if not (is_back and self._viewport.obey(key.name)):
                self.sheet.press(key, now)
            return None
        if self._helps:
            self._helps = False
            return None
        if self._writes:
            return self._write(key)
        if self._viewport.obey(key.name):
            return None
        return self._pressed(key, now)

    def _pressed(self, key: Key, now: float) -> Action | None:
        card = self._card()
        match key:
            case Key("tab" | "back-tab"):
                self._choose(-1 if key.name == "tab" else 1)
            case Key("enter") if card is not None:
                card.fold()
            case Key("enter" | "paste") | Key("text", "i"):
                self._writes = True
                if key.name == "paste":
                    self.line.take(key)
            case Key("text", "t"):
                return self._ended(card, now)
            case Key("text", "?"):
                self._helps = True
            case Key("escape"):
                self._viewport.chosen = None
                self._viewport.to_end()
            case _:
                pass
        return None

    def _ended(self, card: CallCard | None, now: float) -> Action | None:
        """The command of a card, or of the only one that has any."""
        running = [one for one in self.timeline.running if one.command is not None]
        if card is None and len(running) == 1:
            card = running[0]
        if card is not None and card.command is not None:
            self._note("its command is being ended", now)
            return End(card.command)
        which = "no command runs in it" if card is not None else "choose its card with Tab"
        self._note(which if running or card is not None else "no command runs", now)
        return None

    def _write(self, key: Key) -> Action | None:
        match key.name:
            case "enter":
                self._writes = False
                text = self.line.taken().strip()
                return Say(text) if text else None
            case "escape":
                self._writes = False
            case "up" | "down" | "page-up" | "page-down":
                self._viewport.obey(key.name)
            case _:
                self.line.take(key)
        return None

    def _choose(self, by: int) -> None:
        cards = self.timeline.cards
        if not cards:
            return
        chosen = self._viewport.chosen
        at = len(cards) if chosen is None else cards.index(chosen)
        if chosen is None and by > 0:
            return
        at = max(at + by, 0)
        if at == len(cards):
            self._viewport.chosen = None
            self._viewport.to_end()
            return
        self._viewport.chosen = cards[at]
        self._viewport.reveal(cards[at])

    def _card(self) -> CallCard | None:
        if self._viewport.chosen is None:
            return None
        found = self.timeline.entries[self._viewport.chosen]
        return found if isinstance(found, CallCard) else None

    def _note(self, text: str, now: float) -> None:
        self._notice, self._notice_until = text, now + _NOTICE_SECONDS

    def _state(self) -> tuple[str, Look]:
        if self.sheet is not None:
            return "waits for you", "warn"
        return self.timeline.doing, "good"

    def _rule(self, columns: int, now: float) -> Row:
        if now < self._notice_until:
            return cut((Span(f" {self._notice}", "warn"),), columns)
        below = self._viewport.below()
        return ruled_plain(columns, f"{below:,} more below · End" if below else "")

    def _line(self, columns: int) -> Seen:
        if self._writes:
            return typed_row(" > ", self.line, columns)
        if self.line.text:
            text, _ = self.line.seen(columns - 3)
            return Seen([(Span(" > ", "dim"), Span(text, "dim"))])
        told = " i: say something to the agent" if self.sheet is None else ""
        return Seen([cut((Span(told, "dim"),), columns)])
