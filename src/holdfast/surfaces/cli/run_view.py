"""What is shown of a run while it goes on: to programs a line of JSON for everything, to whoever
wants only the end nothing, to people what `live_view` makes of it.

How a run goes is not known here.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

import msgspec

from holdfast.app.telling import Told
from holdfast.contract.events import Event, ModelReplied
from holdfast.contract.json_value import JsonObject, encode_json
from holdfast.contract.wakes import WakeEnd
from holdfast.record.export import event_line
from holdfast.surfaces.cli.call_cards import CardLine
from holdfast.surfaces.cli.paint import Paint

_USED = ("input_tokens", "output_tokens", "cached_tokens", "cost_micros")


class Usage(msgspec.Struct):
    """What a run has used so far."""

    rounds: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_micros: int = 0

    def count(self, replied: ModelReplied) -> None:
        """One more reply."""
        self.rounds += 1
        for name in _USED:
            used = replied.usage.get(name)
            if isinstance(used, int):
                setattr(self, name, getattr(self, name) + used)


class View(Protocol):
    """Shows a run."""

    def begin(self, session_id: str, model: str, configured: str | None = None, /) -> None:
        """It is about to begin: where, and who is asked; ``configured``: what its table is called,
        where it has one."""
        ...

    def show(self, told: Told, /) -> None:
        """One more thing that happens."""
        ...

    def tick(self, running: dict[str, str], /) -> None:
        """Time goes by; what the commands of calls printed last, by call."""
        ...

    def remark(self, text: str, /) -> None:
        """Something about the run itself."""
        ...

    def paused(self, shown: list[CardLine], /) -> AbstractContextManager[None]:
        """A person is asked meanwhile, about this."""
        ...

    def end(self, end: WakeEnd, status: int, /) -> None:
        """It is over."""
        ...


class QuietView:
    """Nothing but the last words."""

    def __init__(self, answer: Callable[[str], None], beside: Paint) -> None:
        """``answer``: where the last words go. ``beside``: where a person reads what is asked."""
        self._answer = answer
        self._beside = beside

    def begin(self, session_id: str, model: str, configured: str | None = None, /) -> None:
        """Not shown."""

    def show(self, told: Told, /) -> None:
        """Not shown."""

    def tick(self, running: dict[str, str], /) -> None:
        """Not shown."""

    def remark(self, text: str, /) -> None:
        """A line beside the answer."""
        self._beside.line(f"holdfast: {text}")

    def paused(self, shown: list[CardLine], /) -> AbstractContextManager[None]:
        """Nothing pauses; what is asked about is shown all the same."""
        for line in shown:
            self._beside.line(f"  {line.text}", line.tone)
        return nullcontext()

    def end(self, end: WakeEnd, _status: int, /) -> None:
        """The last words."""
        if end.response:
            self._answer(end.response)


class JsonView(QuietView):
    """A line of JSON for everything."""

    def __init__(self, line: Callable[[str], None], beside: Paint) -> None:
        super().__init__(line, beside)
        self._line = line
        self._model = ""
        self._usage = Usage()

    def begin(self, session_id: str, model: str, _configured: str | None = None, /) -> None:
        """Where it is written down, and who is asked."""
        self._model = model
        self._line(
            encode_json({"kind": "begin", "session_id": session_id, "model": model}).decode()
        )

    def show(self, told: Told, /) -> None:
        """An event as it is written down, or what is told while it happens."""
        if isinstance(told, Event):
            if isinstance(told.payload, ModelReplied):
                self._usage.count(told.payload)
            self._line(f'{{"kind":"event","event":{event_line(told).decode()}}}')
        else:
            plain = msgspec.to_builtins(told)
            self._line(encode_json({"kind": "sign", **plain}).decode())

    def end(self, end: WakeEnd, _status: int, /) -> None:
        """How it ended, and what it used."""
        told: JsonObject = {
            "kind": "end",
            "exit": _status,
            "model": self._model,
            **msgspec.to_builtins(end),
            "usage": msgspec.to_builtins(self._usage),
        }
        self._line(encode_json(told).decode())
