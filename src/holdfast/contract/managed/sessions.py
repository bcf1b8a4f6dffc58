"""Sessions of one agent, as their tools show them. Values, and the ports behind those tools.

Names of variables are told, and never their values.
"""

from collections.abc import Mapping
from typing import Literal, Protocol

import msgspec

from holdfast.contract.archive import Kinship
from holdfast.contract.call_port import CallPort
from holdfast.contract.delegation import ChildTask
from holdfast.contract.events import SessionStatus, StopReason
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.managed.crowding import Pressure
from holdfast.contract.managed.shell_views import ShellState
from holdfast.contract.outcomes import (
    Evaluation,
    EvaluationStatus,
    GradeStatus,
    PendingKind,
    Trend,
)
from holdfast.contract.steps import Step

Relation = Literal["self", "parent", "child", "sibling"]


class PendingConfirmation(msgspec.Struct, frozen=True, kw_only=True):
    """A call that a person has to confirm."""

    id: str
    tool_name: str
    ownership: str
    permission_policy: str
    input: JsonValue
    """Long texts are cut."""
    requested_at: str


class PendingCustomTool(msgspec.Struct, frozen=True, kw_only=True):
    """A call that the application has to carry out."""

    id: str
    name: str
    input: JsonValue
    requested_at: str


class EventCursor(msgspec.Struct, frozen=True, kw_only=True):
    """How far a session's runs have come in its events."""

    last_context_sequence: int
    """The number of the last event that the model was told of."""
    last_processed_event_id: str | None
    last_produced_event_id: str | None


class ActiveOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What is to come of a session; `outcome_read` tells it in full."""

    title: str
    success_criteria: tuple[str, ...]
    event_id: str | None


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session stands."""

    session_id: str
    agent_id: str
    parent_session_id: str | None
    environment_id: str
    resource_contract_fingerprint: str | None
    agent_setup_fingerprint: str | None
    relation_to_current: Relation | None
    child_count: int
    """Direct children of the same agent."""
    setup_matches_current: bool | None
    """None: one of the two is not known."""
    outcome_matches_current: bool
    created_at: str
    updated_at: str
    last_activity_at: str
    status: SessionStatus
    stop_reason: StopReason
    requires_action: bool
    pending_action_kind: PendingKind | None
    pending_action_tool_name: str | None
    pending_tool_confirmation_request: PendingConfirmation | None
    pending_custom_tool_request: PendingCustomTool | None
    turns: int
    resource_count: int | None
    """None: it has other resources than the calling session."""
    pending_event_count: int
    checkpoint_updated_at: str | None
    last_wake_id: str | None
    latest_summary: str
    event_cursor: EventCursor
    shell_state: ShellState
    artifact_paths: Mapping[str, tuple[str, ...]]
    """By what is shown; in a list, the file that shows where the session stands alone."""
    active_outcome: ActiveOutcome | None
    outcome_grade: GradeStatus
    outcome_status: EvaluationStatus
    outcome_trend: Trend | None
    outcome_trend_summary: str
    promotion_ready: bool
    outcome_evaluation: Evaluation | None
    """None: no run with this outcome has come to rest."""
    next_outcome_step: Step | None
    outcome_evaluation_history_count: int
    outcome_evaluation_latest_iteration: int | None


class SessionFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which sessions are wanted."""

    limit: int = 10
    has_outcome: bool | None = None
    outcome_status: EvaluationStatus | None = None
    outcome_trend: Trend | None = None
    promotion_ready: bool | None = None
    status: SessionStatus | None = None
    active_minutes: int | None = None
    lineage: Kinship | None = None
    include_current: bool = True


class SessionList(msgspec.Struct, frozen=True, kw_only=True):
    """Sessions of an agent, those most like the calling one first."""

    agent_id: str
    count: int
    sessions: tuple[SessionSummary, ...]


class ChildList(msgspec.Struct, frozen=True, kw_only=True):
    """The direct children of a session."""

    parent_session_id: str
    count: int
    sessions: tuple[SessionSummary, ...]


class DescribedContext(msgspec.Struct, frozen=True, kw_only=True):
    """How much of its context a session's model is given of what."""

    session_id: str
    available: bool
    artifact_paths: tuple[str, ...]
    context_budget: JsonObject | None
    pressure: Pressure | None
    reason: str | None
    """Why it is not known."""


class SessionBook(CallPort, Protocol):
    """Whoever knows where the sessions of the agent stand.

    Of a session that is not the agent's, all of it is PolicyDenied; where the store cannot be
    reached, Unavailable.
    """

    async def sessions(self, wanted: SessionFilter, /) -> SessionList:
        """The sessions that fit."""
        ...

    async def children(self, session_id: str | None, wanted: SessionFilter, /) -> ChildList:
        """Those directly below one."""
        ...

    async def snapshot(self, session_id: str | None, /) -> SessionSummary:
        """Where one stands, with the files that show it."""
        ...

    async def context(self, session_id: str | None, /) -> DescribedContext:
        """How crowded its context is, or was when it came to rest."""
        ...


class DelegatedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A child session that was made and holds its task."""

    parent_session_id: str
    child_session: SessionSummary
    seeded_event_ids: tuple[str, ...]


class RanChild(msgspec.Struct, frozen=True, kw_only=True):
    """How far a child session came."""

    parent_session_id: str
    child_session: SessionSummary
    executed_cycles: int
    loop_stop_reason: Literal["idle", "max_cycles"]
    child_stop_reason: StopReason
    response: str
    queued_wake_ids: tuple[str, ...]
    processed_event_ids: tuple[str, ...]


class ChildWork(CallPort, Protocol):
    """Whoever hands work to sessions below the calling one, and tells where they stand."""

    async def delegate(self, task: ChildTask, /) -> DelegatedSession:
        """Make a child session that holds this task; PolicyDenied, Unavailable."""
        ...

    async def run_child(self, session_id: str, max_cycles: int, /) -> RanChild:
        """Run a child for so many wakes at most; PolicyDenied, Unavailable."""
        ...
