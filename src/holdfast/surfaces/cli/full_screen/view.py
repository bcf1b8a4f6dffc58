"""A run on the whole screen, as one of the views of a run: what happens goes to the board, and
questions are put to a person there.

When the run ends, or anything else, the screen is left, and the last words stand on the ordinary
one. How a run goes is not known here.
"""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

import msgspec
from anyio import Event as Signal

from holdfast.contract.call import Ask
from holdfast.contract.events import Event
from holdfast.contract.person import Inquiry, Replies
from holdfast.contract.ports import Answer
from holdfast.contract.wakes import WakeEnd
from holdfast.surfaces.cli.asked_about import Asked, Whole
from holdfast.surfaces.cli.asking import answer_in
from holdfast.surfaces.cli.full_screen.approval_sheet import ApprovalSheet
from holdfast.surfaces.cli.full_screen.board import Board
from holdfast.surfaces.cli.full_screen.drawing import Drawing
from holdfast.surfaces.cli.full_screen.form_sheet import FormSheet
from holdfast.surfaces.cli.full_screen.layout import Facts
from holdfast.surfaces.cli.full_screen.sheets import Sheet
from holdfast.surfaces.cli.full_screen.terminal import Terminal
from holdfast.surfaces.cli.held import Shown
from holdfast.surfaces.cli.paint import Paint, Tone
from holdfast.surfaces.cli.person import person_here
from holdfast.surfaces.cli.run_view import model_shown, summed_up

Clock = Callable[[], float]


class FullScreen:
    """Shows a run as it happens, and asks."""

    def __init__(
        self, terminal: Terminal, after: Paint, facts: Facts, clock: Clock = time.monotonic
    ) -> None:
        """``after``: where the last words go."""
        self.terminal = terminal
        self.clock = clock
        self.board = Board(facts, clock())
        self.changed = Signal()
        """Set when there is something new to be seen."""
        self.is_deaf = False
        """Nobody can type any more."""
        self._after = after
        self._model = ""
        self._drawing = Drawing(terminal.write)
        self._asked = Asked()
        self._pressed = Signal()

    def begin(self, session_id: str, model: str, configured: str | None = None, /) -> None:
        """The screen is ours from here on."""
        self._model = model
        facts = self.board.facts
        known = model_shown(model, configured)
        self.board.facts = msgspec.structs.replace(facts, session_id=session_id, model=known)
        self.terminal.enter()
        self.draw()

    def recall(self, asked: Sequence[Event], /) -> None:
        """Calls of before that have no end yet."""
        self.board.timeline.recall(asked)

    def show(self, told: Shown, /) -> None:
        """One more thing that happens; also while a person is asked."""
        self.board.timeline.note(told, self.clock())
        self.changed.set()

    def tick(self, _running: dict[str, str], /) -> None:
        """Time goes by."""
        self.changed.set()

    def remark(self, text: str, /) -> None:
        """Something about the run itself."""
        if self.terminal.is_ours:
            self.board.notice(text, self.clock())
            self.changed.set()
        else:
            self._after.line(f"holdfast: {text}", "warn")

    @contextmanager
    def paused(self, asked: Asked, /) -> Generator[Whole | None]:
        """A person is asked about this meanwhile; the sheet shows all of it."""
        self._asked = asked
        try:
            yield None
        finally:
            self.board.sheet = None
            self.changed.set()

    def knows(self, _problem: str, /) -> bool:
        """What they were told is gone with the screen."""
        return False

    def end(self, end: WakeEnd, status: int, refused: int, /) -> None:
        """The screen is left; the last words, and what was used."""
        self.leave()
        facts, after = self.board.facts, self._after
        after.line(f"session {facts.session_id} · {facts.model}", "dim")
        if end.response:
            after.markdown(end.response, apart=False)
        tone: Tone = "dim" if status == 0 else "plain"
        took = self.board.seconds(self.clock())
        after.line(summed_up(self._model, self.board.timeline.usage, took, refused), tone)

    async def decides(self, ask: Ask, _whole: Whole | None, /) -> Answer | None:
        """Wait for the answer about a call; without a keyboard there is none."""
        sheet = ApprovalSheet(ask, self._asked, self.board.pause(self.clock()))
        await self._answered(sheet)
        return None if sheet.line is None else answer_in(sheet.line)

    async def asks(self, inquiry: Inquiry, /) -> Replies | None:
        """Wait for the replies to what a tool wants to know."""
        sheet = FormSheet(inquiry.questions, self.board.pause(self.clock()))
        await self._answered(sheet)
        answers = sheet.answers if sheet.is_done else None
        return None if answers is None else Replies(answers=answers, by=person_here())

    def press(self) -> None:
        """Keys came, or no more can come: whoever waits for an answer looks."""
        self._pressed.set()
        self.changed.set()

    def draw(self, *, whole: bool = False) -> None:
        """Have the screen show what is."""
        if not self.terminal.is_ours:
            return
        if whole:
            self._drawing.forget()
        self._drawing.show(self.board.frame(self.terminal.size, self.clock()))

    def leave(self) -> None:
        """Give the screen back, whatever happened; what others printed and was not said is said."""
        if not self.terminal.is_ours:
            return
        for line in self.terminal.leave().splitlines():
            self._after.line(line)
        if text := self.board.line.text.strip():
            self._after.line(f"holdfast: this was not sent: {text}", "warn")

    async def _answered(self, sheet: Sheet) -> None:
        self.board.sheet = sheet
        self.changed.set()
        while not (sheet.is_done or self.is_deaf):
            self._pressed = Signal()
            await self._pressed.wait()
