"""How answers look: the Protocol, and the plain look for files, pipes and screen readers.

The look for a terminal is `rich_look`; it is loaded only where a person reads one.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TextIO

from holdfast.contract.late_pattern import late_pattern

_STEERING = late_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters except tab and line feed, changes of direction, and what is no character."""

_DEEPEST = 20

Status = Literal["OK", "WARN", "FAIL"]


class Finding(NamedTuple):
    """What one check found, and what to do about it."""

    status: Status
    name: str
    detail: str
    next_step: str = ""


class Scene(NamedTuple):
    """One stop of the tour."""

    title: str
    explanation: str
    sent: str
    repairs: Sequence[str]
    envelope: str
    """Indented JSON."""
    ok: bool
    judged: Sequence[str] = ()
    """What policy says of each part of the call, where that is shown."""


class Card(NamedTuple):
    """A call of a tool, at a glance."""

    title: str
    state: str
    status: Status
    sent: Sequence[str]
    """What it was called with, in lines."""
    answer: Sequence[str]


class Line(NamedTuple):
    """A line of an outline."""

    depth: int
    text: str
    status: Status = "OK"


class Look(Protocol):
    """Shows things to somebody."""

    @property
    def width(self) -> int | None:
        """How many characters a line has room for; None: there is no end to it."""
        ...

    def text(self, text: str, /) -> None:
        """A paragraph."""
        ...

    def heading(self, text: str, /) -> None:
        """The title of what follows."""
        ...

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]], /) -> None:
        """Rows under headings."""
        ...

    def fields(self, values: Mapping[str, str], /) -> None:
        """Names with a value each."""
        ...

    def outline(self, lines: Sequence[Line], /) -> None:
        """Lines inside of each other."""
        ...

    def json(self, text: str, /) -> None:
        """JSON that is already indented."""
        ...

    def findings(self, findings: Sequence[Finding], /) -> None:
        """What checks found."""
        ...

    def scene(self, scene: Scene, /) -> None:
        """One stop of the tour."""
        ...

    def card(self, card: Card, /) -> None:
        """A call of a tool."""
        ...


def indent(line: Line) -> str:
    """The blanks before a line; what is very deep stays on the screen."""
    return "  " * min(line.depth, _DEEPEST)


def printable(text: str) -> str:
    """The text without what could steer a terminal; a JSON text stays the same JSON."""
    return text if text.isprintable() else _STEERING.sub(_visible, text)


def _visible(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group(0)):04x}"


class PlainLook:
    """Text and nothing else."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    @property
    def width(self) -> int | None:
        """A file or a pipe has no edge."""
        return None

    def text(self, text: str, /) -> None:
        """A paragraph."""
        self._out.write(f"{text}\n")

    def heading(self, text: str, /) -> None:
        """The title of what follows."""
        self._out.write(f"{text}\n{'-' * len(text)}\n")

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]], /) -> None:
        """Rows under headings, columns two blanks apart."""
        lines = [headings, *rows]
        widths = [max(len(line[at]) for line in lines) for at in range(len(headings))]
        for line in lines:
            cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
            self._out.write("  ".join(cells).rstrip() + "\n")

    def fields(self, values: Mapping[str, str], /) -> None:
        """Names with a value each."""
        width = max(map(len, values), default=0)
        for name, value in values.items():
            self._out.write(f"{name.ljust(width)}  {value}\n")

    def outline(self, lines: Sequence[Line], /) -> None:
        """Lines inside of each other, by two blanks."""
        for line in lines:
            self._out.write(f"{indent(line)}{line.text}\n")

    def json(self, text: str, /) -> None:
        """JSON that is already indented."""
        self._out.write(f"{text}\n")

    def findings(self, findings: Sequence[Finding], /) -> None:
        """What checks found, the next step below."""
        for found in findings:
            self._out.write(f"{found.status:4}  {found.name}: {found.detail}\n")
            if found.next_step:
                self._out.write(f"      -> {found.next_step}\n")

    def scene(self, scene: Scene, /) -> None:
        """One stop of the tour."""
        self.heading(scene.title)
        self.text(scene.explanation)
        self.text(f"  sent      {scene.sent}")
        for at, repair in enumerate(scene.repairs):
            self.text(f"  {'repairs' if at == 0 else '':9} {repair}")
        for at, part in enumerate(scene.judged):
            self.text(f"  {'judged' if at == 0 else '':9} {part}")
        for at, line in enumerate(scene.envelope.splitlines()):
            self.text(f"  {'envelope' if at == 0 else '':9} {line}")
        self.text("")

    def card(self, card: Card, /) -> None:
        """A call of a tool."""
        self.text(f"[{card.title}] {card.state}")
        for sign, lines in (("<", card.sent), (">", card.answer)):
            for line in lines:
                self.text(f"  {sign} {line}")
