"""A run for somebody who watches: what the agent says as it says it, a card for every call.

At a terminal with colours and a line that tells how far it is; elsewhere plain lines. How a run
goes is not known here.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager

from holdfast.agent.place import Sign
from holdfast.app.telling import Told
from holdfast.contract.events import (
    ApprovalAsked,
    CallAsked,
    CallSettled,
    ChildCreated,
    ChildIdle,
    Event,
    ModelReplied,
    ModelRequested,
    Payload,
    UserInterrupt,
    UserMessage,
)
from holdfast.contract.json_value import JsonObject, decode_json
from holdfast.contract.model import CallDelta, ReasoningDelta, TextDelta
from holdfast.contract.truncate import cut_text
from holdfast.contract.wake_events import ContextCompacted, ModelFailed
from holdfast.contract.wakes import WakeEnd
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.call_cards import Card, CardLine, card_of, result_lines, todo_lines
from holdfast.surfaces.cli.paint import Paint, Tone
from holdfast.surfaces.cli.run_view import Usage

_MILLION = 1_000_000
_SAID = 120


class LiveView:
    """Shows a run as it happens."""

    def __init__(
        self, paint: Paint, answer: Callable[[str], None] | None, said: str | None = None
    ) -> None:
        """``answer``: where the last words go; None: whoever watches has seen them. ``said``: what
        whoever watches said, and need not be told."""
        self._paint = paint
        self._model = ""
        self._answer = answer
        self._said = said
        self._began = time.monotonic()
        self._usage = Usage()
        self._cards: dict[str, Card] = {}
        self._text: list[str] = []
        self._unsaid = ""
        """Words that may be the last, which are answered elsewhere."""
        self._thinks = False
        self._summing = False
        """A reply that is no part of the conversation is under way."""
        self._last = "begins"
        self._pauses = 0
        self._held: deque[Told] = deque()

    def begin(self, session_id: str, model: str, configured: str | None = None, /) -> None:
        """Where it can be taken up again, and who is asked."""
        self._model = model
        known = model if configured in (None, model) else f"{configured} ({model})"
        self._paint.line(f"session {session_id} · {known}", "dim")

    def show(self, told: Told, /) -> None:
        """One more thing that happens; while a person is asked, it waits."""
        if self._pauses:
            self._held.append(told)
            return
        match told:
            case Event():
                self._event(told.payload)
            case TextDelta(text):
                self._says(text)
            case ReasoningDelta(text):
                self._says(text, thinks=True)
            case CallDelta(name=name):
                self._last = f"asks for {name or 'a call'}"
            case Sign():
                self._sign(told)
        self._show_status()

    def tick(self, running: dict[str, str], /) -> None:
        """Time goes by; what the commands of calls printed last, by call."""
        for call_id, line in running.items():
            card = self._cards.get(call_id)
            if card is not None and line:
                self._last = f"{card.tool}: {line}"
        if not self._pauses:
            self._show_status()

    def remark(self, text: str, /) -> None:
        """Something about the run itself."""
        self._paint.line(f"holdfast: {text}", "warn")

    @contextmanager
    def paused(self, shown: list[CardLine], /) -> Generator[None]:
        """A person is asked meanwhile, about this."""
        self._end_text()
        self._lines(shown)
        self._paint.end_line()
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            while self._held and not self._pauses:
                self.show(self._held.popleft())

    def end(self, end: WakeEnd, status: int, /) -> None:
        """How it ended: what was used, and the last words where they were not seen."""
        self._pauses = 0
        while self._held:
            self.show(self._held.popleft())
        self._end_text()
        took = time.monotonic() - self._began
        tone: Tone = "dim" if status == 0 else "plain"
        self._paint.line(used(self._model, self._usage, took), tone)
        if self._answer is not None and end.response:
            self._answer(end.response)

    def _event(self, said: Payload) -> None:
        match said:
            case ModelRequested():
                if self._unsaid:
                    self._paint.piece(self._unsaid)  # they were not the last
                    self._unsaid = ""
                self._summing = said.purpose == "summary"
                self._last = "sums up what was said" if self._summing else "thinks"
            case ModelReplied():
                self._replied(said)
            case CallAsked():
                self._end_text()
                card = self._cards[said.call_id] = card_of(said.tool, said.arguments)
                self._paint.line(f"* {card.title}", "strong")
                self._last = f"{card.tool} runs"
            case CallSettled():
                self._settled(said)
            case _:
                self._rarely(said)

    def _rarely(self, said: Payload) -> None:
        """What happens in few runs."""
        line: str | None = None
        match said:
            case ModelFailed():
                later = said.retry_in_seconds
                again = "" if later is None else f"; asked again in {later:.1f} s"
                self._end_text()
                self._paint.line(f"! model: {said.trouble}: {said.message}{again}", "bad")
            case ApprovalAsked() if not self._paint.is_terminal:
                line = f"  asks: {said.reason}"
            case ChildCreated():
                line = f"+ subagent {said.child_session_id}: {said.message}"
            case ChildIdle():
                line = f"- subagent {said.child_session_id}: {said.summary}"
            case ContextCompacted():
                line = "  (a summary stands for what was said before)"
            case UserInterrupt():
                line = f"  interrupted{'' if said.note is None else f': {said.note}'}"
            case UserMessage() if said.message != self._said:
                line = f"> {said.message}"
            case _:
                return
        if line is not None:
            self._end_text()
            self._paint.line(cut_text(" ".join(line.split("\n")), _SAID), "dim")

    def _says(self, text: str, *, thinks: bool = False) -> None:
        if self._summing:
            return
        if thinks != self._thinks and self._text:
            self._end_text()
        self._thinks = thinks
        self._text.append(text)
        if self._paint.is_terminal:
            self._paint.piece(text, "dim" if thinks else "plain")

    def _replied(self, said: ModelReplied) -> None:
        self._usage.count(said)
        if self._summing:
            self._summing = False
            return
        reply: JsonObject = said.reply if isinstance(said.reply, dict) else {}
        text = reply.get("text")
        if (not self._text or self._thinks) and isinstance(text, str):
            self._says(text)  # nothing of it came in pieces
        if self._answer is not None and not self._paint.is_terminal and not reply.get("calls"):
            self._unsaid, self._text = "".join(self._text), []
        self._end_text()

    def _end_text(self) -> None:
        if not self._text:
            return
        text, self._text = "".join(self._text), []
        if not self._paint.is_terminal:
            self._paint.piece(text)
        self._paint.end_line()
        if not self._thinks:
            self._paint.again(text)
        self._thinks = False

    def _settled(self, said: CallSettled) -> None:
        self._end_text()
        card = self._cards.pop(said.call_id, None)
        if card is None:  # it was asked for in a run before this one
            card = Card(said.tool, {})
            self._paint.line(f"* {card.title}", "strong")
        envelope = decode_json(bytes(said.envelope))
        first, *others = result_lines(card, envelope if isinstance(envelope, dict) else {})
        beside = f" ({card.tool})" if self._cards else ""
        self._lines([CardLine(f"{first.text}{beside}", first.tone), *others])
        self._last = "thinks" if not self._cards else "works"

    def _sign(self, sign: Sign) -> None:
        progress = sign.progress
        card = self._cards.get(sign.call_id)
        if card is not None and card.tool == "todo" and isinstance(progress.partial, dict):
            self._end_text()
            self._lines(todo_lines(progress.partial.get("todos")))
        elif progress.message:
            total = "" if progress.total is None else f"/{progress.total:g}"
            done = "" if progress.done is None else f" {progress.done:g}{total}"
            self._last = f"{'' if card is None else f'{card.tool}: '}{progress.message}{done}"

    def _lines(self, lines: Iterable[CardLine]) -> None:
        for line in lines:
            tone: Tone = line.tone
            self._paint.line(f"  {line.text}", tone)

    def _show_status(self) -> None:
        took = time.monotonic() - self._began
        self._paint.status(f"{used(self._model, self._usage, took)} · {self._last}")


def used(model: str, usage: Usage, seconds: float) -> str:
    """What a run has used, in a line."""
    parts = [model, counted(usage.rounds, "round")]
    tokens = usage.input_tokens + usage.output_tokens
    if tokens:
        parts.append(counted(tokens, "token"))
    if usage.cost_micros:
        parts.append(f"cost {usage.cost_micros / _MILLION:.4f}")
    parts.append(f"{seconds:.0f} s")
    return " · ".join(parts)
