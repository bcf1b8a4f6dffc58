"""`session_list_traces`: the newest wakes of a session, each at a glance."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.session_events import SessionEvents, TraceList
from holdfast.tools.managed.sessions.bounds import Count


@builtin(read_only=True, effects=("session_read",), acp_kind="read", interrupt_behavior="cancel")
async def session_list_traces(
    events: SessionEvents, session_id: str | None = None, limit: Count = 8
) -> TraceList:
    """List a session's last runs (wakes) and what they did; session_get_trace shows one."""
    return await events.traces(session_id, limit)
