"""Where a plan is kept: the one thing that may be written while planning."""

from typing import Protocol

from holdfast.contract.call_port import CallPort


class PlanShelf(CallPort, Protocol):
    """Keeps the plans of the calling session, in its own folder."""

    def keep(self, plan: str, /) -> str:
        """The file it lies in from now on; Unavailable when it cannot be kept."""
        ...
