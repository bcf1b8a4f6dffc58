"""`memory_read_version`: one version of a store."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.memory import Memory, VersionContent
from holdfast.contract.managed.spaces import VersionedTarget
from holdfast.tools.managed.given import needed, trimmed


@builtin(
    read_only=True,
    effects=("memory_read",),
    acp_kind="read",
    interrupt_behavior="cancel",
    parallel_safe=True,
)
async def memory_read_version(
    target: VersionedTarget,
    version_id: str,
    memory: Memory,
    session_id: str | None = None,
) -> VersionContent:
    """Read a version that memory_list_versions lists."""
    wanted = needed("memory_read_version", "version_id", version_id)
    return await memory.version(target, wanted, trimmed(session_id))
