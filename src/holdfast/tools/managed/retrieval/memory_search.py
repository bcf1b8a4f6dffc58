"""`memory_search`: candidates from what the agent and its sessions remember."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.retrieval import Limit, Lineage, MemoryHits, Retrieval
from holdfast.tools.managed.retrieval.asked import wanted


@builtin(
    read_only=True,
    effects=("memory_read", "session_read", "learning_read"),
    acp_kind="search",
    interrupt_behavior="cancel",
)
async def memory_search(
    query: str, retrieval: Retrieval, limit: Limit = 8, lineage: Lineage | None = None
) -> MemoryHits:
    """Search lessons, MEMORY.md, and what sessions keep: checkpoints, outcomes, notes, shells."""
    asked = wanted("memory_search", query, limit, lineage, include_current=True)
    return await retrieval.memory(asked)
