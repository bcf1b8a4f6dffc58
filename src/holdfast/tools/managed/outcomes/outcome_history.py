"""`outcome_history`: what the runs of a session came to."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.outcomes import OutcomeHistory, Outcomes
from holdfast.contract.outcomes import MOST_RECORDS


@builtin(read_only=True, effects=("session_read",), acp_kind="read")
async def outcome_history(
    outcomes: Outcomes,
    session_id: str | None = None,
    limit: Annotated[int, msgspec.Meta(ge=1)] = MOST_RECORDS,
) -> OutcomeHistory:
    """The verdicts on a session's newest runs, the oldest first: whether it gets better."""
    return await outcomes.history((session_id or "").strip() or None, limit)
