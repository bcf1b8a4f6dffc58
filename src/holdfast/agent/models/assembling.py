"""What replies of every form have in common: calls put together of pieces, and what counts of them.

Text only: what a provider calls things is not known here.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from holdfast.agent.models.balance import Balance
from holdfast.agent.models.troubles import malformed
from holdfast.agent.models.wire import object_in
from holdfast.contract.chunks import AskedCall
from holdfast.contract.model import CallDelta, FinishReason, Heard, ReasoningDelta, TextDelta

CUT_SHORT: frozenset[FinishReason] = frozenset({"length", "content_filter"})
"""Reasons to stop in the middle of a call."""
MOST_CALLS = 1_000
"""In one reply."""


class Written(msgspec.Struct):
    """Text that comes in pieces; each is told as it comes."""

    pieces: list[str] = []

    def add(self, piece: str) -> bool:
        """Keep it; whether it says anything."""
        if piece:
            self.pieces.append(piece)
        return bool(piece)

    def text(self) -> str | None:
        """All of it; None when nothing was said."""
        return "".join(self.pieces) if self.pieces else None


class OpenCall(msgspec.Struct):
    """A call that is being written."""

    index: int
    id: str = ""
    name: str = ""
    pieces: list[str] = []
    balance: Balance = msgspec.field(default_factory=Balance)
    balanced: int = 0
    """How many pieces it has seen."""

    @property
    def arguments(self) -> str:
        """As far as they are written."""
        return "".join(self.pieces)

    @property
    def is_closed(self) -> bool:
        """Whether its arguments have ended, well or not."""
        for piece in self.pieces[self.balanced :]:
            self.balance.add(piece)
        self.balanced = len(self.pieces)
        return self.balance.is_closed


class Settled(NamedTuple):
    """What counts of the calls of a reply that is over."""

    calls: tuple[AskedCall, ...]
    places: tuple[int, ...]
    """Which ones they are, of all that had begun."""
    cut: tuple[str, ...]
    """The names of those that were cut off in the middle."""


class Draft:
    """A reply that is being written: its words, its thoughts and its calls."""

    def __init__(self, heard: Heard, new_id: Callable[[], str]) -> None:
        self._heard = heard
        self._new_id = new_id
        self._text = Written()
        self._reasoning = Written()
        self._calls: list[OpenCall] = []

    def say(self, piece: str) -> None:
        """Words for people."""
        if self._text.add(piece):
            self._heard(TextDelta(piece))

    def think(self, piece: str) -> None:
        """What it thinks aloud."""
        if self._reasoning.add(piece):
            self._heard(ReasoningDelta(piece))

    def begin(self, given_id: str = "", name: str = "") -> OpenCall:
        """One more call; ModelError where there are too many."""
        if len(self._calls) >= MOST_CALLS:
            raise malformed(f"asked for more than {MOST_CALLS:,} calls in one reply")
        call = OpenCall(index=len(self._calls), id=given_id, name=name)
        self._calls.append(call)
        if name:
            self.write(call, "")
        return call

    def write(self, call: OpenCall, piece: str) -> None:
        """A piece of its arguments; they may be empty when its name has just come."""
        if piece:
            call.pieces.append(piece)
        if not call.id:
            call.id = self._new_id()
        told = CallDelta(index=call.index, id=call.id, name=call.name, arguments=piece)
        self._heard(told)

    @property
    def text(self) -> str | None:
        """What was said; None when it was nothing."""
        return self._text.text()

    @property
    def reasoning(self) -> str | None:
        """What was thought aloud; None when it was nothing."""
        return self._reasoning.text()

    @property
    def said_so_far(self) -> int:
        """How many parts there are: the words, and each call."""
        return len(self._calls) + bool(self._text.pieces)

    def settled(self, finish: FinishReason) -> Settled:
        """The calls, each under an id of its own. One that was cut off in the middle is none.

        What is malformed for another reason is as it was written: whoever checks it can say so.
        """
        found: list[AskedCall] = []
        places: list[int] = []
        cut: list[str] = []
        taken: set[str] = set()
        for call in self._calls:
            if finish in CUT_SHORT and self._is_cut(call):
                cut.append(call.name)
                continue
            own = call.id if call.id and call.id not in taken else self._new_id()
            taken.add(own)
            found.append(AskedCall(own, call.name, call.arguments))
            places.append(call.index)
        return Settled(tuple(found), tuple(places), tuple(cut))

    def _is_cut(self, call: OpenCall) -> bool:
        """Of a reply that was cut: the last call unless it is whole, and others that are open."""
        if call is self._calls[-1]:
            return object_in(call.arguments) is None
        return bool(call.pieces) and not call.is_closed


def finished(finish: FinishReason, calls: tuple[AskedCall, ...]) -> FinishReason:
    """Servers that stop for a call do not all say so."""
    return "tool_calls" if calls and finish in {"stop", "other"} else finish
