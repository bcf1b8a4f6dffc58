"""`session_run_child`: run a session that was made by `session_delegate`, for some wakes."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.delegation import MOST_CYCLES
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.managed.sessions import ChildWork, RanChild
from holdfast.contract.tool import Limits


@builtin(
    read_only=False,
    effects=("session_write",),
    acp_kind="think",
    interrupt_behavior="cancel",
    limits=Limits(wall_seconds=None),
)
async def session_run_child(
    session_id: str,
    children: ChildWork,
    max_cycles: Annotated[int, msgspec.Meta(ge=1, le=MOST_CYCLES)] = 3,
) -> RanChild:
    """Run a child that session_delegate made until it rests, for so many wakes at most.

    Its last words are the response. Example: {"session_id": "ses_0192f0c1", "max_cycles": 2}

    Args:
        session_id: A session that session_delegate made here.
        max_cycles: How many wakes at most.
    """
    named = session_id.strip()
    if not named:
        raise InvalidArguments(
            "session_run_child requires a non-empty session_id", field="session_id"
        )
    return await children.run_child(named, max_cycles)
