"""`session_search_context`: candidates from events of the agent's sessions, and from memory."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.retrieval import ContextHits, Limit, Lineage, Retrieval
from holdfast.tools.managed.retrieval.asked import wanted


@builtin(
    read_only=True,
    effects=("session_read", "memory_read", "learning_read"),
    acp_kind="search",
    interrupt_behavior="cancel",
)
async def session_search_context(
    query: str,
    retrieval: Retrieval,
    limit: Limit = 8,
    include_current: bool = False,  # noqa: FBT001, FBT002 - a model names its arguments
    lineage: Lineage | None = None,
    types: tuple[str, ...] = (),
) -> ContextHits:
    """Search events of this agent's sessions, and memory, for hints to reread.

    Args:
        types: E.g. ["user.message"].
    """
    asked = wanted("session_search_context", query, limit, lineage, include_current=include_current)
    named = tuple(filter(None, (one.strip() for one in types)))
    return await retrieval.context(asked, named)
