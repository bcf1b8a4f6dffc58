"""`session_describe_context`: how crowded the context of a session is."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.sessions import DescribedContext, SessionBook


@builtin(read_only=True, effects=("session_read",), acp_kind="read", interrupt_behavior="cancel")
async def session_describe_context(
    sessions: SessionBook, session_id: str | None = None
) -> DescribedContext:
    """Show how full a session's context is, and what finds what was left out."""
    return await sessions.context(session_id)
