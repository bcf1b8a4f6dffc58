"""What a tool wants to know: one question after the other, to be answered with what is offered or
in words of one's own. What becomes of the answers is not known here.
"""

from holdfast.contract.person import PersonQuestion
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
from holdfast.surfaces.cli.full_screen.spans import Row, Span, cut, wrapped

_OWN = "own words: "
_BODY_AT_LEAST = 2


class FormSheet:
    """The questions of one call."""

    def __init__(self, questions: tuple[PersonQuestion, ...], pause: Pause) -> None:
        self._questions = questions
        self._pause = pause
        self._given: list[tuple[str, ...]] = []
        self._at = 0
        """Which option somebody is at; the last one is for words of their own."""
        self._marked: set[int] = set()
        self._own = LineInput()
        self._body = Body()
        self.skipped = not questions

    @property
    def answers(self) -> tuple[tuple[str, ...], ...] | None:
        """All of them; None: they would not answer."""
        return None if self.skipped else tuple(self._given)

    @property
    def is_done(self) -> bool:
        """Whether all of it is answered, or skipped."""
        return self.skipped or len(self._given) == len(self._questions)

    @property
    def _question(self) -> PersonQuestion:
        return self._questions[min(len(self._given), len(self._questions) - 1)]

    @property
    def is_long(self) -> bool:
        """Whether what is asked about has more rows than are seen."""
        return self._body.is_long

    def press(self, key: Key, now: float) -> None:
        """Obey a key."""
        if self.is_done or not self._pause.hears(now) or self._body.take(key):
            return
        count = len(self._question.options) + 1
        match key.name:
            case "ctrl-d" if not self._own.text:
                self.skipped = True
            case "down" | "tab":
                self._at = (self._at + 1) % count
            case "up" | "back-tab":
                self._at = (self._at - 1) % count
            case "enter":
                self._enter()
            case _ if self._at == count - 1:
                self._own.take(key)
            case "text":
                self._text(key, count)
            case "paste":
                self._at = count - 1
                self._own.take(key)
            case _:
                pass

    def seen(self, columns: int, height: int, now: float) -> Seen:
        """Its rows, at most so many."""
        question = self._question
        header = "" if question.header is None else f"{question.header}: "
        told = list(wrapped(f"{header}{question.question}", columns, "strong"))
        answers = self._answers(columns, now)
        number = f"{len(self._given) + 1} of {len(self._questions)}"
        title = "a question" if len(self._questions) == 1 else f"question {number}"
        room = max(height - len(answers.rows) - 1, _BODY_AT_LEAST)
        return stacked([Seen([ruled(title, columns), *self._body.seen(told, room)]), answers])

    def _answers(self, columns: int, now: float) -> Seen:
        if not self._pause.is_over(now):
            return Seen(spaced([(Span("(you were typing; pause, then answer)", "dim"),)]))
        rows: list[Row] = []
        options = self._question.options
        for at, one in enumerate(options):
            box = ("[x] " if at in self._marked else "[ ] ") if self._question.multi_select else ""
            meaning = "" if one.description is None else f" - {one.description}"
            says = f"{box}{one.label}{meaning}"
            rows += offered(f" {at + 1}  ", says, columns, chosen=at == self._at)
        own = typed_row(f" {_OWN}" if options else "> ", self._own, columns)
        if self._at != len(options):
            own = Seen(own.rows)
        marks = "Space marks, " if self._question.multi_select else ""
        told = f"{marks}Enter answers, Ctrl-D skips"
        return stacked([Seen(spaced(rows)), own, Seen([cut((Span(told, "dim"),), columns)])])

    def _text(self, key: Key, count: int) -> None:
        """At an option: its number is it, a blank marks it, anything else is words."""
        if key.text.isdecimal() and key.text.isascii() and 0 < int(key.text) < count:
            self._at = int(key.text) - 1
            if self._question.multi_select:
                self._mark()
            else:
                self._enter()
        elif key.text == " " and self._question.multi_select:
            self._mark()
        else:
            self._at = count - 1
            self._own.take(key)

    def _mark(self) -> None:
        self._marked ^= {self._at}

    def _enter(self) -> None:
        options = self._question.options
        labels = [options[at].label for at in sorted(self._marked)]
        own = self._own.text.strip()
        if self._at == len(options):
            if not own and not labels:
                return
            given = [*labels, own] if own else labels
        else:
            given = labels or [options[self._at].label]
        self._given.append(tuple(dict.fromkeys(given)))
        self._at, self._marked, self._own = 0, set(), LineInput()
