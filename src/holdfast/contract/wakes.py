"""Runs over sessions: how one ended, and the port behind which it is decided who runs what when.

A wake is one bounded run over one session, under its lease. Values and protocols; the embedded
engine and the cluster's are in `engine`, what happens within a run is `agent`'s to know.
"""

from typing import Literal, Protocol

import msgspec

from holdfast.contract.events import StopReason

NotExecuted = Literal["idle", "lease_contended", "not_ours"]
"""Why there was no run: nothing waits, somebody else runs it, or nobody here knows its agent."""

RunEnd = Literal[
    "final_response",
    "iteration_cap",
    "tool_rejected",
    "cancelled",
    "ended_by_surface",
    "over_budget",
    "requires_action",
    "failed",
]
"""Why a run ended."""


class WakeEnd(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a wake ended, or why there was none."""

    session_id: str
    executed: bool
    reason: NotExecuted | None = None
    """Where it was not executed."""
    wake_id: str | None = None
    stop_reason: StopReason = "idle"
    ended: RunEnd | None = None
    response: str = ""
    """What the agent said last."""
    problem: str | None = None
    """Where it failed."""


class WakeRunner(Protocol):
    """Runs one wake of a session: takes its lease, runs, gives it back. Never raises for a session
    that cannot be run: what went wrong is in the end, and in the journal."""

    async def __call__(self, session_id: str, /) -> WakeEnd:
        """Run it once, if there is anything to do."""
        ...


class Engine(Protocol):
    """Decides which session is run when."""

    async def run(self) -> None:
        """Run what is due, as it becomes due, until `stop`."""
        ...

    async def run_until_idle(self) -> int:
        """Run what is due now and whatever that makes due at once; how many wakes were executed."""
        ...

    def poke(self, session_id: str, /) -> None:
        """Something may be due now: look at once. Safe to call from any thread."""
        ...

    async def stop(self) -> None:
        """Begin nothing more, and wait for what runs."""
        ...
