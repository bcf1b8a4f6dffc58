"""`session_list`: the sessions of the same agent, those most like this one first."""

from msgspec import UNSET, UnsetType

from holdfast.contract.archive import Kinship
from holdfast.contract.builtin import builtin
from holdfast.contract.events import SessionStatus
from holdfast.contract.managed.sessions import SessionBook, SessionFilter, SessionList
from holdfast.contract.outcomes import EvaluationStatus, Trend
from holdfast.tools.managed.sessions.bounds import Count, Minutes, given


@builtin(read_only=True, effects=("session_read",), acp_kind="read", interrupt_behavior="cancel")
async def session_list(  # noqa: PLR0913 - the arguments that the contract names, and the port
    sessions: SessionBook,
    include_current: bool = True,  # noqa: FBT001, FBT002 - a model names every argument
    limit: Count = 10,
    lineage: Kinship | UnsetType = UNSET,
    status: SessionStatus | UnsetType = UNSET,
    has_outcome: bool | UnsetType = UNSET,  # noqa: FBT001 - a model names every argument
    outcome_status: EvaluationStatus | UnsetType = UNSET,
    outcome_trend: Trend | UnsetType = UNSET,
    promotion_ready: bool | UnsetType = UNSET,  # noqa: FBT001 - a model names every argument
    active_minutes: Minutes | UnsetType = UNSET,
) -> SessionList:
    """List this agent's sessions, the most alike first."""
    wanted = SessionFilter(
        limit=limit,
        has_outcome=given(has_outcome),
        outcome_status=given(outcome_status),
        outcome_trend=given(outcome_trend),
        promotion_ready=given(promotion_ready),
        status=given(status),
        active_minutes=given(active_minutes),
        lineage=given(lineage),
        include_current=include_current,
    )
    return await sessions.sessions(wanted)
