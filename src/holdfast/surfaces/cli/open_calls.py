"""The calls of a run that have no end yet, as they are shown: what each is, and since when it runs.

A person may take long to allow a call, and others may run before it: that is not its own time.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from holdfast.agent.place import Sign
from holdfast.contract.events import (
    CallAsked,
    CallIntended,
    CallSettled,
    Event,
    InquiryAnswered,
)
from holdfast.contract.json_value import JsonObject, decode_json
from holdfast.surfaces.cli.asked_about import Asked
from holdfast.surfaces.cli.call_cards import Card, CardLine, card_of, result_lines, todo_lines


class OpenCall(msgspec.Struct):
    """One of them."""

    card: Card
    is_shown: bool = False
    change_is_shown: bool = False
    began: datetime | None = None
    """When it began to run, or to go on after somebody was asked."""

    def seconds(self, ended: datetime) -> float | None:
        """How long it took by itself; None: nobody saw it begin."""
        return None if self.began is None else max((ended - self.began).total_seconds(), 0.0)


class OpenCalls:
    """All of them, by their ids, with the lines that tell of them."""

    def __init__(self) -> None:
        self._calls: dict[str, OpenCall] = {}
        self.doing = ""
        """What was heard of one last."""

    @property
    def brings_work(self) -> bool:
        """Whether one of them ends with what a subagent says."""
        tasks = (one.card for one in self._calls.values() if one.card.tool == "task")
        return any(one.arguments.get("background") is not True for one in tasks)

    def note(self, event: Event) -> None:
        """Something happened that may be about one."""
        match event.payload:
            case CallAsked(call_id=call_id, tool=tool, arguments=arguments):
                self._calls.setdefault(call_id, OpenCall(card_of(tool, arguments)))
            case CallIntended(call_id=call_id) | InquiryAnswered(call_id=call_id):
                if (found := self._calls.get(call_id)) is not None:
                    found.began = event.at
            case _:
                pass

    def asked_about(self, asked: Asked) -> bool:
        """A person is asked about one; whether it is shown already."""
        if asked.call_id is None or asked.card is None or asked.who is not None:
            return False
        call = self._calls.setdefault(asked.call_id, OpenCall(asked.card))
        was_shown, call.is_shown = call.is_shown, True
        call.change_is_shown = asked.tells_change
        return was_shown

    def begun(self, call_id: str) -> Iterator[CardLine]:
        """That it was asked for, unless that was told."""
        return self._card(self._calls[call_id])

    def settled(self, event: Event, said: CallSettled) -> Iterator[CardLine]:
        """What came of it."""
        call = self._calls.pop(said.call_id, None) or OpenCall(Card(said.tool, {}))
        yield from self._card(call)  # where it was asked for in a run before this one
        told = decode_json(bytes(said.envelope))
        envelope: JsonObject = told if isinstance(told, dict) else {}
        first, *others = result_lines(
            call.card,
            envelope,
            call.seconds(event.at),
            change_is_known=call.change_is_shown,
        )
        others_run = any(one.is_shown for one in self._calls.values())
        beside = f" ({call.card.tool})" if others_run else ""
        yield CardLine(f"  {first.text}{beside}", first.tone)
        yield from _further_in(others)
        self.doing = "works" if others_run else "thinks"

    def sign(self, sign: Sign) -> Iterator[CardLine]:
        """A sign of life of one; a list of what is to be done has lines of its own."""
        progress = sign.progress
        call = self._calls.get(sign.call_id)
        tool = "" if call is None else call.card.tool
        if tool == "todo" and isinstance(progress.partial, dict):
            yield from _further_in(todo_lines(progress.partial.get("todos")))
        elif progress.message:
            total = "" if progress.total is None else f"/{progress.total:g}"
            done = "" if progress.done is None else f" {progress.done:g}{total}"
            self.doing = f"{tool}{': ' if tool else ''}{progress.message}{done}"

    def printed(self, running: dict[str, str]) -> None:
        """What commands printed last, by their calls."""
        for call_id, line in running.items():
            if line and call_id in self._calls:
                self.doing = f"{self._calls[call_id].card.tool}: {line}"

    def _card(self, call: OpenCall) -> Iterator[CardLine]:
        if not call.is_shown:
            call.is_shown = True
            yield CardLine(f"* {call.card.title}", "strong")
            self.doing = f"{call.card.tool} runs"


def _further_in(lines: Iterable[CardLine]) -> Iterator[CardLine]:
    return (CardLine(f"  {line.text}", line.tone) for line in lines)
