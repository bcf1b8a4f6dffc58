"""Handing work on: to an agent in a session below, or to a session of the same agent that lasts.

Values, and the ports behind which that happens. A subagent ends with the session that it works for.
A delegated session holds its task before anybody runs it, outlives the call that made it, and is
run as any session is: by whoever finds it due, or by the one above it, for a number of wakes.
"""

from typing import Literal, Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.events import StopReason, WantedOutcome
from holdfast.contract.json_value import JsonObject

AgentMode = Literal["primary", "subagent", "all"]
"""Who may start an agent: people, other agents, or both."""

MOST_DEPTH = 5
"""How deep agents may stand below the session that a person began, which is 0."""
ABORTED_BY_PARENT = "aborted by parent"
MOST_CYCLES = 20
"""Wakes that one call may run a child for."""
DELEGATED = "delegated"
"""The key of a session's metadata that says so of it."""
CHILD_RESTS = "session.child_idle"
"""Why a session is woken whose child came to rest."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is to do."""

    agent: str
    prompt: str
    background: bool = False
    metadata: JsonObject = {}


class Delegated(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of it, or where it goes on."""

    output: str | None = None
    session_id: str | None = None


class FinishedTask(msgspec.Struct, frozen=True, kw_only=True):
    """The end of work in the background."""

    session_id: str
    agent: str
    output: str | None = None
    error: str | None = None
    """Why there is no output."""


class Delegation(CallPort, Protocol):
    """Whoever starts agents for the calling session."""

    async def start(self, work: Work, /) -> Delegated:
        """Its output, or for work in the background its session at once.

        InvalidArguments for an agent that is not there or cannot be started so, PolicyDenied too
        deep below, Unavailable where there are no agents.
        """
        ...


class ChildTask(msgspec.Struct, frozen=True, kw_only=True):
    """What a child session is to do."""

    message: str
    outcome: WantedOutcome | None = None


class SeededChild(msgspec.Struct, frozen=True, kw_only=True):
    """A child session that was made and holds its task."""

    parent_session_id: str
    child_session_id: str
    seeded_event_ids: tuple[str, ...]


class ChildRun(msgspec.Struct, frozen=True, kw_only=True):
    """How far a child session came."""

    parent_session_id: str
    child_session_id: str
    executed_cycles: int
    loop_stop_reason: Literal["idle", "max_cycles"]
    child_stop_reason: StopReason
    response: str
    queued_wake_ids: tuple[str, ...]
    processed_event_ids: tuple[str, ...]


class ChildSessions(Protocol):
    """Whoever makes and runs the sessions below the calling one."""

    async def delegate(self, task: ChildTask, /) -> SeededChild:
        """Make a child session that holds this task.

        PolicyDenied too deep below, or for a session that is bound by one above it; Unavailable
        where nothing is written down.
        """
        ...

    async def run_child(self, session_id: str, max_cycles: int, /) -> ChildRun:
        """Run a child for so many wakes at most.

        PolicyDenied for a session that is no child of this one, Unavailable while somebody else
        runs it.
        """
        ...
