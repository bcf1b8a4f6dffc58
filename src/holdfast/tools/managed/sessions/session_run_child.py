"""`session_run_child`: run a session that was made by `session_delegate`, for some wakes."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.delegation import MOST_CYCLES, ChildRun, ChildSessions
from holdfast.contract.tool import Limits


@builtin(
    read_only=False,
    effects=("session_write",),
    acp_kind="think",
    interrupt_behavior="cancel",
    limits=Limits(wall_seconds=None),
)
async def session_run_child(
    session_id: Annotated[str, msgspec.Meta(min_length=1)],
    children: ChildSessions,
    max_cycles: Annotated[int, msgspec.Meta(ge=1, le=MOST_CYCLES)] = 3,
) -> ChildRun:
    """Run a child session of this one until it rests, for a bounded number of wakes.

    Its context stays its own; its last words are the response. Example:
    {"session_id": "ses_0192f0c1", "max_cycles": 2}

    Args:
        session_id: A session that session_delegate made here.
        max_cycles: How many wakes at most.
    """
    return await children.run_child(session_id, max_cycles)
