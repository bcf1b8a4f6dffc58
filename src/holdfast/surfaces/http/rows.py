"""Sessions as rows: what a list shows of each, in the words of the other surfaces."""

from datetime import datetime

import msgspec

from holdfast.app.session_store import runner_of
from holdfast.contract.events import SessionStatus
from holdfast.contract.journal import Session
from holdfast.contract.json_value import JsonObject
from holdfast.contract.ports import Clock
from holdfast.contract.session_state import (
    ReportedStatus,
    Runner,
    SessionState,
    is_left,
    outcome_status,
    reported,
)
from holdfast.record.codec import moment_of


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """How much waits for somebody."""

    approvals: int
    questions: int
    requests: int


NOTHING_WAITS = Waits(approvals=0, questions=0, requests=0)


class QueuedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is to come."""

    id: str
    due_at: datetime
    reason: str


class OutcomeRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a session is to achieve, and how far it has come."""

    title: str
    status: str
    criteria: tuple[str, ...] = ()
    trend: str | None = None
    promotion_ready: bool | None = None
    score: JsonObject | None = None


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A session as it stands."""

    id: str
    title: str | None
    agent_id: str | None
    model: str | None
    profile: str | None
    workspace: str | None
    parent_id: str | None
    status: SessionStatus
    reported: ReportedStatus
    runner: Runner
    left: bool
    """Its program ended in the middle of something: it has to be taken up."""
    created_at: datetime
    updated_at: datetime
    events: int
    """The number of its last event."""
    usage: dict[str, int]
    turns: int
    waiting: Waits
    children: tuple[str, ...]
    wakes: tuple[QueuedRun, ...]
    outcome: OutcomeRow | None = None
    summary: str | None = None
    metadata: JsonObject = {}


def row_of(session: Session, clock: Clock) -> SessionRow:
    """One of them."""
    state = session.state
    runner = runner_of(session.lease, clock)
    managed = state.managed
    return SessionRow(
        id=session.id,
        title=state.title,
        agent_id=state.agent_id,
        model=state.model,
        profile=state.profile,
        workspace=state.workspace,
        parent_id=state.parent_id,
        status=state.status,
        reported=reported(state, runner),
        runner=runner,
        left=is_left(state, runner),
        created_at=session.created_at,
        updated_at=session.updated_at,
        events=session.sequence,
        usage=state.usage,
        turns=state.turns,
        waiting=waits_of(state),
        children=state.children,
        wakes=tuple(
            QueuedRun(id=one.id, due_at=moment_of(one.due_micros), reason=one.reason)
            for one in state.wakes
        ),
        outcome=_outcome(state),
        summary=None if managed is None or not managed.summary else managed.summary,
        metadata=state.metadata,
    )


def waits_of(state: SessionState) -> Waits:
    """How much of it waits for somebody."""
    if state.status == "terminated":
        return NOTHING_WAITS
    stages = [call.stage for call in state.calls.values()]
    custom = state.custom
    return Waits(
        approvals=stages.count("waiting"),
        questions=stages.count("inquiring"),
        requests=int(custom is not None and custom.answered_by is None),
    )


def _outcome(state: SessionState) -> OutcomeRow | None:
    managed = state.managed
    if managed is None or managed.outcome_title is None:
        return None
    evaluated = managed.evaluated
    told: JsonObject | None = None if evaluated is None else msgspec.to_builtins(evaluated)
    return OutcomeRow(
        title=managed.outcome_title,
        status=outcome_status(state),
        criteria=managed.success_criteria,
        trend=None if evaluated is None else evaluated.evaluation.trend,
        promotion_ready=None if evaluated is None else evaluated.evaluation.promotion_ready,
        score=told,
    )
