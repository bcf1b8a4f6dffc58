"""`outcome_evaluate`: whether what a session did may be shared."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.outcomes import EvaluatedOutcome, Outcomes


@builtin(read_only=True, effects=("session_read", "memory_read"), acp_kind="read")
async def outcome_evaluate(outcomes: Outcomes, session_id: str | None = None) -> EvaluatedOutcome:
    """Whether a session's work may be promoted to shared memory or files: only with status pass.

    Gives grade, verdict, trend and earlier verdicts.
    """
    return await outcomes.evaluate((session_id or "").strip() or None)
