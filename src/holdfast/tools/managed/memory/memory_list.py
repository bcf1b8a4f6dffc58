"""`memory_list`: the stores of what outlives a run."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.memory import STORES, MemoryStores


@builtin(
    read_only=True,
    effects=("memory_read",),
    acp_kind="read",
    parallel_safe=True,
    inline=True,
)
def memory_list() -> MemoryStores:
    """List the memory stores of this session and its agent, and which of them you can write."""
    return MemoryStores(count=len(STORES), stores=STORES)
