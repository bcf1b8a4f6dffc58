"""`retrieval_search`: candidates from every backend, what of them is the same put together."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.retrieval import (
    BackendName,
    Limit,
    Lineage,
    Retrieval,
    RetrievalHits,
)
from holdfast.tools.managed.retrieval.asked import wanted


@builtin(
    read_only=True,
    effects=("session_read", "memory_read", "learning_read"),
    acp_kind="search",
    interrupt_behavior="cancel",
)
async def retrieval_search(
    query: str,
    retrieval: Retrieval,
    limit: Limit = 8,
    include_current: bool = False,  # noqa: FBT001, FBT002 - a model names its arguments
    lineage: Lineage | None = None,
    backends: tuple[BackendName, ...] = (),
) -> RetrievalHits:
    """Search memory, events and runs at once: what you did or said before, e.g. last week.

    Hits are hints: reread by expansion_plan.
    """
    asked = wanted("retrieval_search", query, limit, lineage, include_current=include_current)
    return await retrieval.everywhere(asked, backends)
