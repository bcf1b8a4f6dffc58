"""`session_get_snapshot`: where one session stands, in one summary."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.sessions import SessionBook, SessionSummary


@builtin(read_only=True, effects=("session_read",), acp_kind="read", interrupt_behavior="cancel")
async def session_get_snapshot(
    sessions: SessionBook, session_id: str | None = None
) -> SessionSummary:
    """Show where a session stands: run, outcome, shell, and what it waits for."""
    return await sessions.snapshot(session_id)
