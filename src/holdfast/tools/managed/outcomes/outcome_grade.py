"""`outcome_grade`: how far a session came with its outcome."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.outcomes import GradedOutcome, Outcomes


@builtin(read_only=True, effects=("session_read", "memory_read"), acp_kind="read")
async def outcome_grade(outcomes: Outcomes, session_id: str | None = None) -> GradedOutcome:
    """Whether it is done: how far a session came with its outcome, the evidence, what to call next.

    Words alone prove nothing: some tool must have answered since the outcome was defined.
    """
    return await outcomes.grade((session_id or "").strip() or None)
