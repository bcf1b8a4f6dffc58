"""What happens in a run, as one looks at it: told events in, entries in their order out.

It knows what each event means to somebody who watches. How anything looks, and what time it is, is
not known here: the time is handed in.
"""

from collections.abc import Callable, Sequence

import msgspec

from holdfast.agent.place import Sign
from holdfast.app.read_along import Below
from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    ChildCreated,
    ChildIdle,
    Event,
    InquiryAnswered,
    InquiryAsked,
    ModelReplied,
    ModelRequested,
    Payload,
    StatusIdle,
    UserMessage,
)
from holdfast.contract.json_value import JsonObject, JsonValue, decode_json
from holdfast.contract.model import CallDelta, ReasoningDelta, TextDelta
from holdfast.contract.shell import LiveCommand
from holdfast.surfaces.cli.call_cards import WHOLE, CardLine, card_of, result_lines
from holdfast.surfaces.cli.full_screen.entries import CallCard, Entry, Form, Remark, Words
from holdfast.surfaces.cli.held import Shown
from holdfast.surfaces.cli.markdown_blocks import Block, Blocks
from holdfast.surfaces.cli.open_calls import OpenCall
from holdfast.surfaces.cli.run_view import Usage
from holdfast.surfaces.cli.told_lines import Listener, below_lines, lines_of

_ASKED_HERE = Listener(is_asked=True)


class Child(msgspec.Struct):
    """A subagent at work."""

    name: str
    depth: int
    doing: str = "begins"


class Timeline:
    """One run."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.cards: list[int] = []
        """Which of them are calls."""
        self.usage = Usage()
        self.doing = "begins"
        self.todos: JsonValue = []
        self.children: dict[str, Child] = {}
        """The subagents at work, by their sessions."""
        self._open: dict[str, CallCard] = {}
        self._before: dict[str, CallAsked] = {}
        self._spoken = _Spoken(self._add)
        self._summing = False
        self._before_this = 0
        """The last event of before this run."""

    @property
    def running(self) -> tuple[CallCard, ...]:
        """The calls that have no end yet."""
        return tuple(self._open.values())

    def remark(self, line: CardLine, *, apart: bool = False) -> None:
        """Something about the run itself."""
        self._spoken.end()
        self._add(Remark(line=line, apart=apart))

    def note(self, told: Shown, now: float) -> None:
        """One more thing that happened."""
        match told:
            case Event(sequence=sequence) if sequence <= self._before_this:
                pass  # said while nobody ran it, and told again to whoever takes it up
            case Event():
                self._event(told, now)
            case Below():
                self._below(told)
            case TextDelta(text) | ReasoningDelta(text):
                if not self._summing:
                    thinks = isinstance(told, ReasoningDelta)
                    self.doing = "thinks" if thinks else "speaks"
                    self._spoken.says(text, thinks=thinks)
            case CallDelta(name=name):
                self.doing = f"asks for {name or 'a call'}"
            case Sign():
                self._sign(told)

    def history(self, events: Sequence[Event], now: float) -> None:
        """What happened before this run: seen, and not counted."""
        for event in events:
            self.note(event, now)
        self._before_this = max((event.sequence for event in events), default=0)
        self.usage, self.doing = Usage(), "begins"

    def recall(self, asked: Sequence[Event]) -> None:
        """Calls of before that may have no end yet: shown once something comes of them."""
        for event in asked:
            if isinstance(event.payload, CallAsked):
                self._before[event.payload.call_id] = event.payload

    def prints(self, commands: Sequence[LiveCommand]) -> bool:
        """What commands print meanwhile; whether that is new."""
        by_call: dict[str, list[LiveCommand]] = {}
        for one in commands:
            by_call.setdefault(one.call_id, []).append(one)
        new = [card for card in self.running if card.prints(by_call.get(card.call_id, ()))]
        return bool(new)

    def _add(self, entry: Entry) -> None:
        last = self.entries[-1] if self.entries else None
        if isinstance(entry, CallCard):
            entry.apart = not isinstance(last, CallCard)
            self.cards.append(len(self.entries))
        self.entries.append(entry)

    def _event(self, event: Event, now: float) -> None:
        said = event.payload
        match said:
            case ModelRequested():
                self._spoken.end()
                self._summing = said.purpose == "summary"
                self.doing = "sums up what was said" if self._summing else "thinks"
            case ModelReplied():
                self._replied(said)
            case UserMessage():
                self._spoken.end()
                self._add(Words(text=said.message, form="person"))
            case StatusIdle():
                self.doing = "waits for work in the background" if self.children else "rests"
            case CallAsked():
                self._card(said.call_id, said)
            case CallSettled():
                self._settled(event, said)
            case _ if isinstance(call_id := getattr(said, "call_id", None), str):
                self._step(event, call_id, now)
            case _:
                self._rarely(said)

    def _step(self, event: Event, call_id: str, now: float) -> None:
        """A call is one step further."""
        card = self._card(call_id)
        if card is None:
            return
        tool = card.call.card.tool
        match event.payload:
            case ApprovalAsked():
                card.changes("waits", "waits for you", "warn")
                self.doing = f"asks about {tool}"
            case InquiryAsked():
                card.changes("waits", "asks you", "warn")
                self.doing = f"{tool} asks"
            case CallIntended() | InquiryAnswered():
                card.call.began, card.since = event.at, now
                card.changes("runs", "runs", "accent")
                self.doing = f"{tool} runs"
            case ApprovalAnswered(allowed=allowed):
                card.changes("asked", "allowed" if allowed else "refused", "dim")
            case CallRefused():
                card.changes("failed", "refused", "bad")
            case _:
                pass

    def _card(self, call_id: str, asked: CallAsked | None = None) -> CallCard | None:
        known = self._open.get(call_id)
        said = asked or self._before.pop(call_id, None)
        if known is not None or said is None:
            return known
        self._spoken.end()
        call = OpenCall(card_of(said.tool, said.arguments), is_shown=True)
        made = self._open[call_id] = CallCard(call_id=call_id, call=call, told="asked for")
        self._add(made)
        return made

    def _settled(self, event: Event, said: CallSettled) -> None:
        asked = CallAsked(call_id=said.call_id, tool=said.tool, arguments="{}")
        card = self._card(said.call_id) or self._card(said.call_id, asked)
        if card is None:
            return
        told = decode_json(bytes(said.envelope))
        envelope: JsonObject = told if isinstance(told, dict) else {}
        took = card.call.seconds(event.at)
        first, *others = result_lines(card.call.card, envelope, took, most=WHOLE)
        how, colon, why = first.text.partition(": ")
        card.brought = (*([CardLine(why, first.tone)] if colon else []), *others)
        card.tail, card.command, card.since = (), None, None
        card.changes("failed" if first.tone == "bad" else "done", how, first.tone)
        del self._open[said.call_id]
        self.doing = "works" if self._open else "thinks"

    def _rarely(self, said: Payload) -> None:
        names = {child: one.name for child, one in self.children.items()}
        match said:
            case ChildCreated(child_session_id=child):
                names[child] = said.outcome_title or "a subagent"
                self.children[child] = Child(names[child], 1)
            case ChildIdle(child_session_id=child):
                self.children.pop(child, None)
                if any(map(_brings_work, self.running)):
                    said = msgspec.structs.replace(said, summary="")  # the call tells it
            case _:
                pass
        for line in lines_of(said, _ASKED_HERE, names):
            self.remark(line)

    def _below(self, told: Below) -> None:
        session_id, said = told.event.session_id, told.event.payload
        child = self.children.setdefault(session_id, Child(told.name, told.depth))
        match said:
            case CallAsked(tool=tool, arguments=arguments):
                child.doing = card_of(tool, arguments).title
            case ModelRequested():
                child.doing = "thinks"
            case ChildIdle(child_session_id=below):
                self.children.pop(below, None)
            case StatusIdle():
                child.doing = "rests"
            case _:
                pass
        for line in below_lines(told):
            self.remark(line)

    def _replied(self, said: ModelReplied) -> None:
        self.usage.count(said)
        if self._summing:
            self._summing = False
            return
        reply: JsonObject = said.reply if isinstance(said.reply, dict) else {}
        text = reply.get("text")
        if isinstance(text, str) and not self._spoken.has_words:
            self._spoken.says(text, thinks=False)  # nothing of it came in pieces
        self._spoken.end()

    def _sign(self, sign: Sign) -> None:
        progress = sign.progress
        card = self._card(sign.call_id)
        tool = "" if card is None else card.call.card.tool
        if tool == "todo" and isinstance(progress.partial, dict):
            self.todos = progress.partial.get("todos")
        if progress.message:
            self.doing = f"{tool}: {progress.message}" if tool else progress.message


def _brings_work(one: CallCard) -> bool:
    """Whether a call that runs ends with what a subagent says."""
    card = one.call.card
    return card.tool == "task" and card.arguments.get("background") is not True


class _Spoken:
    """One text after the other, as blocks that are whole and one that is not."""

    def __init__(self, add: Callable[[Entry], None]) -> None:
        self._add = add
        self._blocks = Blocks()
        self._open: Words | None = None
        self._last: Block | None = None
        self._thinks = False
        self.has_words = False
        """Whether anything of what is under way was said and not thought."""

    def says(self, text: str, *, thinks: bool) -> None:
        """One more piece."""
        if thinks != self._thinks:
            self.end()
        self._thinks = thinks
        if thinks:
            self._show_open((self._open.text if self._open is not None else "") + text, "thought")
            return
        self.has_words = True
        for block in self._blocks.feed(text):
            self._whole(block)
        if self._blocks.open.strip() or self._open is not None:
            self._show_open(self._blocks.open, "plain")

    def end(self) -> None:
        """It is whole."""
        if not self._thinks:
            for block in self._blocks.rest():
                self._whole(block)
        self._blocks, self._open, self._last = Blocks(), None, None
        self._thinks = self.has_words = False

    def _show_open(self, text: str, form: Form) -> None:
        if self._open is None:
            self._open = Words(text=text, form=form)
            self._add(self._open)
        self._open.text = text
        self._open.version += 1

    def _whole(self, block: Block) -> None:
        """What was open is this now, for good."""
        entry, self._open = self._open, None
        if entry is None:
            entry = Words(text="", form="markdown")
            self._add(entry)
        mark, last = block.list_mark, self._last
        entry.text, entry.form = block.text, "markdown"
        entry.apart = not (mark and last is not None and last.list_mark == mark)
        entry.version += 1
        self._last = block
