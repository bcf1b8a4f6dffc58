"""`session_list_children`: the direct children of a session, those most like this one first."""

from msgspec import UNSET, UnsetType

from holdfast.contract.builtin import builtin
from holdfast.contract.events import SessionStatus
from holdfast.contract.managed.sessions import ChildList, SessionBook, SessionFilter
from holdfast.contract.outcomes import EvaluationStatus, Trend
from holdfast.tools.managed.sessions.bounds import Count, Minutes, given, said


@builtin(read_only=True, effects=("session_read",), acp_kind="read", interrupt_behavior="cancel")
async def session_list_children(  # noqa: PLR0913 - the arguments that the contract names
    sessions: SessionBook,
    session_id: str | UnsetType = UNSET,
    limit: Count = 10,
    status: SessionStatus | UnsetType = UNSET,
    has_outcome: bool | UnsetType = UNSET,  # noqa: FBT001 - a model names every argument
    outcome_status: EvaluationStatus | UnsetType = UNSET,
    outcome_trend: Trend | UnsetType = UNSET,
    promotion_ready: bool | UnsetType = UNSET,  # noqa: FBT001 - a model names every argument
    active_minutes: Minutes | UnsetType = UNSET,
) -> ChildList:
    """List a session's direct children."""
    wanted = SessionFilter(
        limit=limit,
        has_outcome=given(has_outcome),
        outcome_status=given(outcome_status),
        outcome_trend=given(outcome_trend),
        promotion_ready=given(promotion_ready),
        status=given(status),
        active_minutes=given(active_minutes),
    )
    return await sessions.children(said(session_id), wanted)
