"""`outcome_read`: what a session is to achieve."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.outcomes import Outcomes, ReadOutcome


@builtin(read_only=True, effects=("session_read",), acp_kind="read")
async def outcome_read(outcomes: Outcomes, session_id: str | None = None) -> ReadOutcome:
    """What this session, or another one of the same agent, is to achieve."""
    return await outcomes.read((session_id or "").strip() or None)
