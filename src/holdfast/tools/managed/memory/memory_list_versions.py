"""`memory_list_versions`: what was written of a store before."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.memory import Memory, VersionList
from holdfast.contract.managed.spaces import VersionedTarget
from holdfast.tools.managed.given import trimmed


@builtin(
    read_only=True,
    effects=("memory_read",),
    acp_kind="read",
    interrupt_behavior="cancel",
    parallel_safe=True,
)
async def memory_list_versions(
    target: VersionedTarget,
    memory: Memory,
    session_id: str | None = None,
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 10,
) -> VersionList:
    """List the versions of a note, the newest first."""
    return await memory.versions(target, trimmed(session_id), limit)
