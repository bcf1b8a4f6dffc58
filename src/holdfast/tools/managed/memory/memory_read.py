"""`memory_read`: what one of the stores holds."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.memory import Memory, MemoryRead
from holdfast.contract.managed.spaces import MemoryTarget
from holdfast.tools.managed.given import trimmed


@builtin(
    read_only=True,
    effects=("memory_read",),
    acp_kind="read",
    interrupt_behavior="cancel",
    parallel_safe=True,
)
async def memory_read(
    target: MemoryTarget, memory: Memory, session_id: str | None = None
) -> MemoryRead:
    """Read one memory store, with the version_id to expect when you write it.

    workspace_memory is MEMORY.md, shared by all sessions of the agent.
    """
    return await memory.read(target, trimmed(session_id))
