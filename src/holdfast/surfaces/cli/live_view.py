"""A run for somebody who watches: what the agent says as it says it, a card for every call.

At a terminal with colours and a line that tells how far it is; elsewhere plain lines. How a run
goes is not known here.
"""

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager

import msgspec

from holdfast.agent.place import Sign
from holdfast.app.read_along import Below
from holdfast.contract.events import (
    CallAsked,
    CallSettled,
    ChildCreated,
    ChildIdle,
    Event,
    ModelReplied,
    ModelRequested,
    Payload,
    StatusIdle,
)
from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import CallDelta, ReasoningDelta, TextDelta
from holdfast.contract.wake_events import ModelFailed
from holdfast.contract.wakes import WakeEnd
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.asked_about import Asked, Whole, show_asked
from holdfast.surfaces.cli.call_cards import CardLine
from holdfast.surfaces.cli.held import Held, Shown
from holdfast.surfaces.cli.open_calls import OpenCalls
from holdfast.surfaces.cli.paint import Paint, Tone
from holdfast.surfaces.cli.run_view import Usage, model_shown, summed_up, used
from holdfast.surfaces.cli.spoken import Spoken
from holdfast.surfaces.cli.told_lines import Listener, below_lines, lines_of

_AWAITS = "waits for work in the background"


class LiveView:
    """Shows a run as it happens."""

    def __init__(
        self,
        paint: Paint,
        answer: Callable[[str], None] | None,
        listener: Listener = Listener(),  # noqa: B008 - a value that nothing changes
    ) -> None:
        """``answer``: where the last words go; None: whoever watches has seen them."""
        self._paint = paint
        self._model = ""
        self._answer = answer
        self._listener = listener
        self._began = time.monotonic()
        self._usage = Usage()
        self._calls = OpenCalls()
        self._spoken = Spoken(paint)
        self._unsaid = ""
        """Words that may be the last, which are answered elsewhere."""
        self._summing = False
        """A reply that is no part of the conversation is under way."""
        self._below: dict[str, str] = {}
        """The subagents at work, by their sessions."""
        self._failure = ""
        self._pauses = 0
        self._held = Held()

    def begin(self, session_id: str, model: str, configured: str | None = None, /) -> None:
        """Where it can be taken up again, and who is asked."""
        self._model = model
        known = model_shown(model, configured)
        self._paint.line(f"session {session_id} · {known}", "dim")

    def recall(self, asked: Sequence[Event], /) -> None:
        """Calls of before that have no end yet."""
        for event in asked:
            self._calls.note(event)

    def show(self, told: Shown, /) -> None:
        """One more thing that happens; while a person is asked, it waits."""
        if self._pauses:
            self._held.add(told)
            return
        match told:
            case Event():
                self._calls.note(told)
                self._event(told)
            case Below():
                self._lines(below_lines(told))
            case TextDelta(text) | ReasoningDelta(text):
                if not self._summing:
                    self._spoken.says(text, thinks=isinstance(told, ReasoningDelta))
            case CallDelta(name=name):
                self._calls.doing = f"asks for {name or 'a call'}"
            case Sign():
                self._lines(self._calls.sign(told))
        self._show_status()

    def tick(self, running: dict[str, str], /) -> None:
        """Time goes by; what the commands of calls printed last, by call."""
        self._calls.printed(running)
        if not self._pauses:
            self._show_status()

    def remark(self, text: str, /) -> None:
        """Something about the run itself."""
        if self._pauses:
            self._paint.break_off()
        self._paint.line(f"holdfast: {text}", "warn")

    @contextmanager
    def paused(self, asked: Asked, /) -> Generator[Whole | None]:
        """A person is asked meanwhile, about this; gives what shows all of it."""
        self._spoken.end()
        is_shown = self._calls.asked_about(asked)
        whole = show_asked(self._paint, asked, card_is_shown=is_shown)
        self._paint.end_line()
        self._pauses += 1
        try:
            yield whole
        finally:
            self._pauses -= 1
            self._show_held()

    def knows(self, problem: str, /) -> bool:
        """Whether it was told that this went wrong."""
        return bool(self._failure) and self._failure in problem

    def end(self, end: WakeEnd, status: int, refused: int, /) -> None:
        """How it ended: what was used, and the last words where they were not seen."""
        self._pauses = 0
        self._show_held()
        self._spoken.end()
        tone: Tone = "dim" if status == 0 else "plain"
        took = time.monotonic() - self._began
        self._paint.line(summed_up(self._model, self._usage, took, refused), tone)
        if self._answer is not None and end.response:
            self._answer(end.response)

    def _show_held(self) -> None:
        while not self._pauses and (told := self._held.next()) is not None:
            self.show(told)
        if not self._pauses and (dropped := self._held.told_dropped()):
            text = f"({counted(dropped, 'live piece')} came while you were asked, and not shown)"
            self._lines([CardLine(text, "dim")])

    def _event(self, event: Event) -> None:
        said = event.payload
        match said:
            case ModelRequested():
                if self._unsaid:
                    self._paint.piece(self._unsaid)  # they were not the last
                    self._unsaid = ""
                self._summing = said.purpose == "summary"
                self._calls.doing = "sums up what was said" if self._summing else "thinks"
            case ModelReplied():
                self._replied(said)
            case CallAsked():
                self._lines(self._calls.begun(said.call_id))
            case CallSettled():
                self._lines(self._calls.settled(event, said))
            case StatusIdle():
                self._calls.doing = _AWAITS if self._below else "rests"
            case _:
                self._rarely(said)

    def _rarely(self, said: Payload) -> None:
        """What happens in few runs."""
        match said:
            case ModelFailed():
                self._failure = said.message
            case ChildCreated():
                self._below[said.child_session_id] = said.outcome_title or "a subagent"
            case ChildIdle() if self._calls.brings_work:
                said = msgspec.structs.replace(said, summary="")  # the call tells it
            case _:
                pass
        self._lines(lines_of(said, self._listener, self._below))
        if isinstance(said, ChildIdle):
            self._below.pop(said.child_session_id, None)

    def _replied(self, said: ModelReplied) -> None:
        self._usage.count(said)
        if self._summing:
            self._summing = False
            return
        reply: JsonObject = said.reply if isinstance(said.reply, dict) else {}
        text = reply.get("text")
        spoken = self._spoken
        if self._held.words_dropped:
            self._held.words_dropped = False
            spoken.end()
        if (not spoken.text or spoken.is_thought) and isinstance(text, str):
            spoken.says(text)  # nothing of it came in pieces
        if self._answer is not None and not self._paint.is_terminal and not reply.get("calls"):
            self._unsaid = spoken.text
            spoken.forget()
        spoken.end()

    def _lines(self, lines: Iterable[CardLine]) -> None:
        for line in lines:
            self._spoken.end()
            self._paint.line(line.text, line.tone)

    def _show_status(self) -> None:
        took = time.monotonic() - self._began
        others = f" · {', '.join(self._below.values())} at work" if self._below else ""
        self._paint.status(
            f"{self._calls.doing or 'begins'}{others} · {used(self._model, self._usage, took)}"
        )
