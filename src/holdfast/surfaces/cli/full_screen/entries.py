"""What a timeline is made of: words, remarks, and cards of calls. Values that change in place.

How they look is not known here.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from holdfast.contract.shell import LiveCommand
from holdfast.contract.truncate import cut_text
from holdfast.surfaces.cli.call_cards import WHOLE, CardLine
from holdfast.surfaces.cli.full_screen.spans import Look
from holdfast.surfaces.cli.open_calls import OpenCall

TAIL_LINES = 100
"""Of what a running command prints: the last ones."""

Form = Literal["markdown", "plain", "thought", "person"]
CallState = Literal["asked", "waits", "runs", "done", "failed"]


class Entry(msgspec.Struct, eq=False):
    """Something that stands in the timeline."""

    version: int = 0
    """Grows whenever it changes."""
    apart: bool = True
    """Below a row that stays free."""


class Words(Entry, kw_only=True):
    """What somebody says; the model's words come block by block, each an entry."""

    text: str
    form: Form


class Remark(Entry, kw_only=True):
    """A line about the run."""

    line: CardLine


class CallCard(Entry, kw_only=True):
    """A call of a tool."""

    call_id: str
    call: OpenCall
    state: CallState = "asked"
    told: str = ""
    """The state, in a few words."""
    look: Look = "dim"
    since: float | None = None
    """When it began to run, on the clock of whoever shows it."""
    brought: tuple[CardLine, ...] = ()
    """What came of it, whole."""
    tail: tuple[str, ...] = ()
    """What its command printed last."""
    command: str | None = None
    """The command that runs in it, by its name."""
    unfolded: bool = False

    def changes(self, state: CallState, told: str, look: Look) -> None:
        """It is in another state."""
        self.state, self.told, self.look = state, told, look
        self.version += 1

    def prints(self, commands: Sequence[LiveCommand]) -> bool:
        """What its commands printed until now; whether that is new."""
        running = next((one.id for one in commands if one.state == "running"), None)
        printed = "\n".join(
            text for one in commands for text in (one.stdout_tail, one.stderr_tail) if text.strip()
        )
        tail = tuple(cut_text(one, WHOLE.width) for one in printed.splitlines()[-TAIL_LINES:])
        if (running, tail) == (self.command, self.tail):
            return False
        self.command, self.tail = running, tail
        self.version += 1
        return True

    def fold(self) -> None:
        """Show all of it, or no longer."""
        self.unfolded = not self.unfolded
        self.version += 1
