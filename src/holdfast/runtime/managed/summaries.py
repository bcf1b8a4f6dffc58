"""Where sessions of an agent stand, as one of them sees it: each in one summary.

All of it is in the state of a session; only of the calling one its live shell counts as well. Which
sessions are shown is not known here.
"""

from collections.abc import Mapping

import msgspec

from holdfast.contract.archive import Likeness
from holdfast.contract.journal import Session
from holdfast.contract.managed.artifact_names import ARTIFACTS
from holdfast.contract.managed.sessions import (
    ActiveOutcome,
    EventCursor,
    PendingConfirmation,
    PendingCustomTool,
    Relation,
    SessionSummary,
)
from holdfast.contract.managed.shell_views import ShellState, ShellView
from holdfast.contract.managed_events import ManagedState
from holdfast.contract.outcomes import Evaluation, EvaluationStatus, GradeStatus
from holdfast.contract.session_state import SessionState, outcome_status, requires_action
from holdfast.contract.steps import Step
from holdfast.runtime.managed.bounded_view import bounded
from holdfast.runtime.managed.evaluating import gate_step
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.judging import Judged, Judging
from holdfast.runtime.managed.session_folders import artifact_paths, artifacts_of
from holdfast.runtime.managed.session_likeness import last_active, likeness_of, moment, relation

_NOT_ALWAYS_THERE = frozenset({"staged_substrate", "outcome_repair"})
"""Shown only where there is something to show."""
_SHOWN_OF_ALL = "session_status"
_NOTHING = ManagedState()


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """How far a session came with its outcome."""

    grade: GradeStatus
    status: EvaluationStatus
    evaluation: Evaluation | None
    next_step: Step | None


class Viewpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The calling session, as far as others are compared with it."""

    session: Session
    like: Likeness
    verdict: Verdict
    """Its live shell counts."""
    resources: str | None
    """The fingerprint of what it stands on."""


class Summaries:
    """As one session sees them."""

    def __init__(self, ground: Ground, judging: Judging, shell: ShellView) -> None:
        self._ground = ground
        self._judging = judging
        self._shell = shell

    async def viewpoint(self) -> Viewpoint:
        """The calling session, as it is now."""
        session = await self._ground.session()
        managed = _managed(session.state)
        # Without an outcome nothing is to be judged, and nothing has to be read.
        is_judged = managed.outcome_fingerprint is not None
        return Viewpoint(
            session=session,
            like=likeness_of(session),
            verdict=_live(await self._judging.judged()) if is_judged else self._written(session),
            resources=managed.resource_contract_fingerprint,
        )

    def verdict(self, session: Session, seen_from: Viewpoint) -> Verdict:
        """How far a session came: as it was written down, but for the calling one."""
        if session.id == seen_from.session.id:
            return seen_from.verdict
        return self._written(session)

    async def summary(
        self,
        session: Session,
        seen_from: Viewpoint,
        children: int,
        *,
        whole: bool = False,
        stands: Relation | None = None,
    ) -> SessionSummary:
        """Where a session stands. ``whole``: with all that is not told of each in a list."""
        state = session.state
        managed = _managed(state)
        found = self.verdict(session, seen_from)
        evaluation, record = found.evaluation, managed.evaluated
        like, own = seen_from.like, likeness_of(session)
        waits = state.confirmation, state.custom
        is_known = like.setup_fingerprint is not None and own.setup_fingerprint is not None
        return SessionSummary(
            session_id=session.id,
            agent_id=state.agent_id or self._ground.usual_agent,
            parent_session_id=state.parent_id,
            environment_id=state.environment_id,
            resource_contract_fingerprint=managed.resource_contract_fingerprint,
            agent_setup_fingerprint=managed.setup_fingerprint,
            relation_to_current=stands or relation(session, like),
            child_count=children,
            setup_matches_current=(
                own.setup_fingerprint == like.setup_fingerprint if is_known else None
            ),
            outcome_matches_current=(
                like.outcome_title is not None and own.outcome_title == like.outcome_title
            ),
            created_at=session.created_at.isoformat(),
            updated_at=session.updated_at.isoformat(),
            last_activity_at=last_active(session).isoformat(),
            status=state.status,
            stop_reason=state.stop_reason,
            requires_action=requires_action(state),
            pending_action_kind=(
                "tool_confirmation" if waits[0] else "custom_tool" if waits[1] else None
            ),
            pending_action_tool_name=(
                waits[0].tool_name if waits[0] else waits[1].name if waits[1] else None
            ),
            pending_tool_confirmation_request=_confirmation(state),
            pending_custom_tool_request=_custom(state),
            turns=state.turns,
            resource_count=self._resource_count(session, seen_from),
            pending_event_count=len(state.pending),
            checkpoint_updated_at=(
                moment(managed.rested_at).isoformat() if managed.rested_at else None
            ),
            last_wake_id=managed.last_wake_id,
            latest_summary=managed.summary,
            event_cursor=EventCursor(
                last_context_sequence=managed.through,
                last_processed_event_id=managed.processed_event_id,
                last_produced_event_id=managed.produced_event_id,
            ),
            shell_state=await self._shell_state(session.id, whole=whole),
            artifact_paths=self._artifacts(session, seen_from.session, whole=whole),
            active_outcome=_outcome(managed),
            outcome_grade=found.grade,
            outcome_status=found.status,
            outcome_trend=None if evaluation is None else evaluation.trend,
            outcome_trend_summary="" if evaluation is None else evaluation.trend_summary,
            promotion_ready=evaluation is not None and evaluation.promotion_ready,
            outcome_evaluation=evaluation,
            next_outcome_step=found.next_step,
            outcome_evaluation_history_count=managed.evaluations,
            outcome_evaluation_latest_iteration=None if record is None else record.iteration,
        )

    async def _shell_state(self, session_id: str, *, whole: bool) -> ShellState:
        found = await self._shell.state(session_id)
        return found if whole else msgspec.structs.replace(found, recent_commands=())

    def _resource_count(self, session: Session, seen_from: Viewpoint) -> int | None:
        same = _managed(session.state).resource_contract_fingerprint
        if session.id == seen_from.session.id or (same is not None and same == seen_from.resources):
            return len(self._ground.mounts)
        return None

    def _artifacts(
        self, session: Session, own: Session, *, whole: bool
    ) -> Mapping[str, tuple[str, ...]]:
        folder = artifacts_of(self._ground, session, own)
        if folder is None:
            return {}
        names = ARTIFACTS.keys() - _NOT_ALWAYS_THERE if whole else {_SHOWN_OF_ALL}
        return {name: artifact_paths(folder, name) for name in ARTIFACTS if name in names}

    def _written(self, session: Session) -> Verdict:
        """How far it came when it last rested. What it is to do next is told as from here."""
        state = session.state
        managed = _managed(state)
        status, record = outcome_status(state), managed.evaluated
        if record is None or managed.outcome_title is None:
            grade = _not_graded(state, status)
            step = None if status == "missing_outcome" else self._reread(session)
            return Verdict(grade=grade, status=status, evaluation=None, next_step=step)
        found = record.evaluation
        suggested = found.next_suggested_tool
        seen = None if suggested is None else self._from_outside(suggested, session)
        return Verdict(
            grade=record.grade_status,
            status=found.status,
            evaluation=msgspec.structs.replace(found, next_suggested_tool=seen),
            next_step=(
                None if found.promotion_ready else self._from_outside(gate_step(found), session)
            ),
        )

    def _from_outside(self, step: Step, session: Session) -> Step:
        """A step that a session would take, as another one can take it for it."""
        tool = self._ground.tool(step.tool)
        properties = {} if tool is None else tool.input_schema.get("properties")
        if isinstance(properties, dict) and "session_id" in properties:
            return msgspec.structs.replace(step, args={**step.args, "session_id": session.id})
        return self._reread(session)

    def _reread(self, session: Session) -> Step:
        managed = _managed(session.state)
        of_session = {"session_id": session.id}
        if managed.last_wake_id is None:
            return Step(
                tool="session_get_events",
                args={**of_session},
                rationale="What has happened in it so far stands there.",
            )
        return Step(
            tool="session_get_trace",
            args={"wake_id": managed.last_wake_id, **of_session},
            rationale="What its last run really did stands there, step by step.",
        )


def _live(judged: Judged) -> Verdict:
    found = judged.evaluation
    step = None
    if not found.promotion_ready:
        suggested = found.next_suggested_tool
        waits = suggested is not None and suggested.tool == "shell_wait"
        step = suggested if waits else gate_step(found)
    return Verdict(
        grade=judged.grade.status,
        status=found.status,
        evaluation=found,
        next_step=step,
    )


def _not_graded(state: SessionState, status: EvaluationStatus) -> GradeStatus:
    """What a session is graded as that has not come to rest with its outcome."""
    if status == "missing_outcome":
        return "missing_outcome"
    if status == "blocked":
        return "blocked"
    return "sleeping" if state.wakes else "in_progress"


def _managed(state: SessionState) -> ManagedState:
    return state.managed or _NOTHING


def _outcome(managed: ManagedState) -> ActiveOutcome | None:
    if managed.outcome_title is None:
        return None
    return ActiveOutcome(
        title=managed.outcome_title,
        success_criteria=managed.success_criteria,
        event_id=managed.outcome_event_id,
    )


def _confirmation(state: SessionState) -> PendingConfirmation | None:
    asked = state.confirmation
    if asked is None:
        return None
    return PendingConfirmation(
        id=asked.id,
        tool_name=asked.tool_name,
        ownership=asked.ownership,
        permission_policy=asked.permission_policy,
        input=bounded(asked.input),
        requested_at=moment(asked.requested_at).isoformat(),
    )


def _custom(state: SessionState) -> PendingCustomTool | None:
    asked = state.custom
    if asked is None:
        return None
    return PendingCustomTool(
        id=asked.id,
        name=asked.name,
        input=bounded(asked.input),
        requested_at=moment(asked.requested_at).isoformat(),
    )
