"""`session_search_traces`: candidates among the runs over the agent's sessions."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.retrieval import Limit, Lineage, Retrieval, TraceHits
from holdfast.tools.managed.retrieval.asked import wanted


@builtin(
    read_only=True,
    effects=("session_read",),
    acp_kind="search",
    interrupt_behavior="cancel",
)
async def session_search_traces(
    query: str,
    retrieval: Retrieval,
    limit: Limit = 8,
    include_current: bool = False,  # noqa: FBT001, FBT002 - a model names its arguments
    lineage: Lineage | None = None,
) -> TraceHits:
    """Search the runs (wakes) of this agent's sessions for hints to reread."""
    asked = wanted("session_search_traces", query, limit, lineage, include_current=include_current)
    return await retrieval.traces(asked)
