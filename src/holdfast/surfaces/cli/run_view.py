"""What is shown of a run while it goes on: to programs a line of JSON for everything, to whoever
wants only the end nothing, to people what `live_view` makes of it.

How a run goes is not known here.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

import msgspec

from holdfast.agent.place import Sign
from holdfast.app.read_along import Below
from holdfast.contract.events import Event, ModelReplied
from holdfast.contract.json_value import JsonObject, encode_json
from holdfast.contract.runtime import Progress
from holdfast.contract.wakes import WakeEnd
from holdfast.record.export import event_line
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.asked_about import Asked, Whole, show_asked
from holdfast.surfaces.cli.held import Shown
from holdfast.surfaces.cli.paint import Paint
from holdfast.surfaces.cli.screen import Screen

_MILLION = 1_000_000
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

    def show(self, told: Shown, /) -> None:
        """One more thing that happens."""
        ...

    def tick(self, running: dict[str, str], /) -> None:
        """Time goes by; what the commands of calls printed last, by call."""
        ...

    def remark(self, text: str, /) -> None:
        """Something about the run itself."""
        ...

    def paused(self, asked: Asked, /) -> AbstractContextManager[Whole | None]:
        """A person is asked meanwhile, about this; gives what shows all of it, where not all of it
        is shown."""
        ...

    def recall(self, asked: Sequence[Event], /) -> None:
        """Calls of before this run that have no end yet, as they were asked for."""
        ...

    def knows(self, problem: str, /) -> bool:
        """Whether whoever watches was told that this went wrong."""
        ...

    def end(self, end: WakeEnd, status: int, refused: int, /) -> None:
        """It is over, and so many calls were refused."""
        ...


class QuietView:
    """Nothing but the last words."""

    def __init__(self, answer: Callable[[str], None], beside: Paint) -> None:
        """``answer``: where the last words go. ``beside``: where a person reads what is asked."""
        self._answer = answer
        self._beside = beside
        self._pauses = 0

    def begin(self, session_id: str, model: str, configured: str | None = None, /) -> None:
        """Not shown."""

    def show(self, told: Shown, /) -> None:
        """Not shown."""

    def tick(self, running: dict[str, str], /) -> None:
        """Not shown."""

    def remark(self, text: str, /) -> None:
        """A line beside the answer."""
        if self._pauses:
            self._beside.break_off()
        self._beside.line(f"holdfast: {text}")

    @contextmanager
    def paused(self, asked: Asked, /) -> Generator[Whole | None]:
        """Nothing pauses; what is asked about is shown all the same."""
        whole = show_asked(self._beside, asked, card_is_shown=False)
        self._pauses += 1
        try:
            yield whole
        finally:
            self._pauses -= 1

    def recall(self, asked: Sequence[Event], /) -> None:
        """Not shown."""

    def knows(self, _problem: str, /) -> bool:
        """Nobody was told anything."""
        return False

    def end(self, end: WakeEnd, _status: int, _refused: int, /) -> None:
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
        self._printed: dict[str, str] = {}

    def begin(self, session_id: str, model: str, _configured: str | None = None, /) -> None:
        """Where it is written down, and who is asked."""
        self._model = model
        self._line(
            encode_json({"kind": "begin", "session_id": session_id, "model": model}).decode()
        )

    def show(self, told: Shown, /) -> None:
        """An event as it is written down, or what is told while it happens."""
        if isinstance(told, Event):
            if isinstance(told.payload, ModelReplied):
                self._usage.count(told.payload)
            self._line(f'{{"kind":"event","event":{event_line(told).decode()}}}')
        elif not isinstance(told, Below):
            plain = msgspec.to_builtins(told)
            self._line(encode_json({"kind": "sign", **plain}).decode())

    def tick(self, running: dict[str, str], /) -> None:
        """What a command printed last is a sign of life of its call, where it is new."""
        for call_id, line in running.items():
            if line and self._printed.get(call_id) != line:
                self.show(Sign(call_id=call_id, progress=Progress(message=line)))
        self._printed = running

    def end(self, end: WakeEnd, status: int, refused: int, /) -> None:
        """How it ended, and what it used."""
        told: JsonObject = {
            "kind": "end",
            "exit": status,
            "model": self._model,
            **msgspec.to_builtins(end),
            "refused": refused,
            "usage": msgspec.to_builtins(self._usage),
        }
        self._line(encode_json(told).decode())


def model_shown(model: str, configured: str | None) -> str:
    """Who is asked, as their table is called, and as their provider calls them."""
    return model if configured in (None, model) else f"{configured} ({model})"


def summed_up(model: str, usage: Usage, seconds: float, refused: int) -> str:
    """What a run has used in the end, and how many calls were refused."""
    more = [f"{counted(refused, 'call')} refused"] if refused else []
    return " · ".join([used(model, usage, seconds), *more])


def used(model: str, usage: Usage, seconds: float) -> str:
    """What a run has used, in a line; without a model it is not named."""
    parts = [*([model] if model else []), counted(usage.rounds, "round")]
    tokens = usage.input_tokens + usage.output_tokens
    if tokens:
        parts.append(counted(tokens, "token"))
    if usage.cost_micros:
        parts.append(f"cost {usage.cost_micros / _MILLION:.4f}")
    parts.append(f"{seconds:.0f} s")
    return " · ".join(parts)


def tell_no_run(problem: str, status: int, screen: Screen) -> None:
    """The last line for a program that reads lines, where there was no run."""
    end = WakeEnd(session_id="", executed=False, problem=problem)
    JsonView(screen.raw, Paint(screen.beside)).end(end, status, 0)
