"""`learning_list`: what the agent learned in all its sessions."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.memory import LearningList, Learnings


@builtin(
    read_only=True,
    effects=("learning_read",),
    acp_kind="read",
    interrupt_behavior="cancel",
    parallel_safe=True,
)
async def learning_list(
    learnings: Learnings, limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 20
) -> LearningList:
    """List what your sessions learned, the newest first."""
    return await learnings.newest(limit)
