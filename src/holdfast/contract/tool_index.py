"""Tools on demand: those that are found by words before a model is offered them."""

from typing import Protocol

import msgspec

from holdfast.contract.call_port import CallPort


class ToolMatch(msgspec.Struct, frozen=True):
    """A tool that was found."""

    id: str
    description: str


class ToolIndex(CallPort, Protocol):
    """The tools of the calling session that are offered on demand."""

    def search(self, query: str, /) -> tuple[ToolMatch, ...]:
        """The best matches, the best first; they are offered for the rest of the session."""
        ...
