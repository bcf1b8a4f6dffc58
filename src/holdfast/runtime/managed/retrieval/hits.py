"""What backends find before it is ranked, and what is known of the session it is from. Values."""

import msgspec
from msgspec.structs import replace

from holdfast.contract.journal import Session
from holdfast.contract.managed.retrieval import Relation, Source
from holdfast.contract.managed_events import ManagedState
from holdfast.contract.outcomes import EvaluationStatus, PendingKind, Trend


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A text that fits."""

    source: Source
    title: str
    snippet: str
    points: int
    """Of the text alone."""
    reasons: tuple[str, ...] = ()
    session_id: str | None = None
    event_id: str | None = None
    wake_id: str | None = None
    created_at: str | None = None
    has_command: bool = False
    """Of a shell: a last command is known."""


class Brought(msgspec.Struct, frozen=True):
    """What a backend answers."""

    hits: tuple[Hit, ...] = ()
    unindexed: int = 0
    note: str | None = None
    """What whoever asked should know."""
    available: bool = True


class Neighbour(msgspec.Struct, frozen=True, kw_only=True):
    """A session of the agent, as the calling one sees it."""

    session_id: str
    is_current: bool = False
    setup_fingerprint: str | None = None
    setup_match: bool | None = None
    relation: Relation | None = None
    requires_action: bool = False
    pending_kind: PendingKind | None = None
    pending_tool: str | None = None
    outcome_title: str | None = None
    criteria: tuple[str, ...] = ()
    status: EvaluationStatus | None = None
    ready: bool | None = None
    trend: Trend | None = None
    evaluations: int = 0


_NOTHING = ManagedState()


def neighbour_of(session: Session, current: Session) -> Neighbour:
    """What counts of a session."""
    state, managed = session.state, session.state.managed or _NOTHING
    record = managed.evaluated
    found = Neighbour(
        session_id=session.id,
        is_current=session.id == current.id,
        setup_fingerprint=managed.setup_fingerprint,
        setup_match=setup_match(managed, current.state.managed or _NOTHING),
        relation=relation(session, current),
        requires_action=state.status == "requires_action",
        outcome_title=managed.outcome_title,
        criteria=managed.success_criteria,
        status=None if record is None else record.evaluation.status,
        ready=None if record is None else record.evaluation.promotion_ready,
        trend=None if record is None else record.evaluation.trend,
        evaluations=managed.evaluations,
    )
    if state.confirmation is not None:
        kind: PendingKind = "tool_confirmation"
        return replace(found, pending_kind=kind, pending_tool=state.confirmation.tool_name)
    if state.custom is not None:
        return replace(found, pending_kind="custom_tool", pending_tool=state.custom.name)
    return found


def relation(session: Session, current: Session) -> Relation | None:
    """How a session is related to the calling one."""
    theirs, ours = session.state.parent_id, current.state.parent_id
    if session.id == current.id:
        return None
    if session.id == ours:
        return "parent"
    if theirs == current.id:
        return "child"
    return "sibling" if theirs is not None and theirs == ours else None


def setup_match(one: ManagedState, other: ManagedState) -> bool | None:
    """Whether both stand on the same setup; None: one of them is not known."""
    if one.setup_fingerprint is None or other.setup_fingerprint is None:
        return None
    return one.setup_fingerprint == other.setup_fingerprint
