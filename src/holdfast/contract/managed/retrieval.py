"""Looking for what an agent did and knows: candidates, where they come from, and the ports.

A candidate is a hint and no truth: its `expansion` names the call that reads the thing itself.
Values and protocols only.
"""

from typing import Annotated, Literal, Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.outcomes import Confidence, EvaluationStatus, PendingKind, Trend
from holdfast.contract.steps import Step

BackendName = Literal["memory", "session_context", "session_trace", "vector"]
Lineage = Literal["related", "parent", "children", "siblings"]
Relation = Literal["parent", "child", "sibling"]
Source = Literal[
    "learning",
    "workspace_memory",
    "workspace_memory_notes",
    "session_checkpoint",
    "session_evaluation",
    "session_outcome",
    "session_state",
    "working_buffer",
    "shell_state",
    "session_event",
    "wake_trace",
]
BUILT_IN: tuple[BackendName, ...] = ("memory", "session_context", "session_trace")
MOST_HITS = 50

Limit = Annotated[int, msgspec.Meta(ge=1, le=MOST_HITS)]


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """What a candidate rests on: a text that a backend found."""

    backend: BackendName
    source: Source
    score: int
    event_id: str | None = None
    wake_id: str | None = None


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """What may be meant."""

    backend: BackendName
    source: Source
    agent_id: str
    session_id: str | None = None
    event_id: str | None = None
    wake_id: str | None = None
    setup_fingerprint: str | None = None
    setup_match: bool | None = None
    """None: one of both setups is not known."""
    session_relation: Relation | None = None
    requires_action: bool = False
    pending_action_kind: PendingKind | None = None
    pending_action_tool_name: str | None = None
    outcome_status: EvaluationStatus | None = None
    promotion_ready: bool | None = None
    outcome_trend: Trend | None = None
    title: str
    snippet: str
    score: int
    created_at: str | None = None
    reasons: tuple[str, ...] = ()
    confidence: Confidence = "low"
    evidence: tuple[Piece, ...] = ()
    expansion: Step | None
    """What shows it as it is; None: this agent has no such tool."""


class BackendSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What a backend brought."""

    backend: BackendName
    available: bool = True
    candidates: int = 0
    unindexed: int = 0
    """Events that are too new to have been looked through."""
    note: str | None = None


class PlannedStep(Step, frozen=True, kw_only=True):
    """A step that several hits may lead to."""

    support: int
    """How many candidates lead there."""
    urgency: int = 0


class MemoryHits(msgspec.Struct, frozen=True, kw_only=True):
    """What memory_search found."""

    agent_id: str
    query: str
    count: int
    hits: tuple[Candidate, ...]


class ContextHits(msgspec.Struct, frozen=True, kw_only=True):
    """What session_search_context found."""

    agent_id: str
    query: str
    count: int
    hits: tuple[Candidate, ...]


class TraceHits(msgspec.Struct, frozen=True, kw_only=True):
    """What session_search_traces found."""

    session_id: str
    count: int
    hits: tuple[Candidate, ...]


class RetrievalHits(msgspec.Struct, frozen=True, kw_only=True):
    """What retrieval_search found."""

    agent_id: str
    query: str
    count: int
    backend_summary: tuple[BackendSummary, ...]
    expansion_plan: tuple[PlannedStep, ...]
    hits: tuple[Candidate, ...]


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for, and where."""

    query: str
    limit: int = 8
    include_current: bool = False
    lineage: Lineage | None = None


class Retrieval(CallPort, Protocol):
    """Looks through the sessions of the agent."""

    async def memory(self, wanted: Wanted, /) -> MemoryHits:
        """What is remembered: lessons, shared notes, and what sessions keep of themselves."""
        ...

    async def context(self, wanted: Wanted, types: tuple[str, ...], /) -> ContextHits:
        """Events of sessions, and what is remembered; with types, events of these alone."""
        ...

    async def traces(self, wanted: Wanted, /) -> TraceHits:
        """Runs over sessions."""
        ...

    async def everywhere(
        self, wanted: Wanted, backends: tuple[BackendName, ...], /
    ) -> RetrievalHits:
        """In several backends at once; none named: in all that are built in or provided."""
        ...
