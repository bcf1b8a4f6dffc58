"""`task`: hand one piece of work to a subagent, and wait for it or not."""

from collections.abc import Mapping
from itertools import count
from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.delegation import Delegated, Delegation, Work
from holdfast.contract.json_value import JsonObject
from holdfast.contract.tool import Limits

_numbers = count(1)


def _session_of_its_own(_arguments: Mapping[str, object]) -> tuple[str, ...]:
    """Each call works in a session that no other one touches."""
    return ("session", str(next(_numbers)))


@builtin(
    read_only=False,
    effects=("session_write",),
    acp_kind="think",
    interrupt_behavior="cancel",
    parallel_safe=True,
    resource_key=_session_of_its_own,
    limits=Limits(wall_seconds=None),
)
async def task(
    subagent_type: str,
    prompt: Annotated[str, msgspec.Meta(min_length=1)],
    delegation: Delegation,
    background: bool = False,  # noqa: FBT001, FBT002 - an argument of the model's
    metadata: JsonObject = {},  # noqa: B006 - a schema's default; nothing changes it
) -> Delegated:
    """Hand one piece of work to a subagent, which has at most the permissions you have.

    It knows nothing of this conversation: say in the prompt all it needs. Its last message is the
    answer; in the background you get its session at once and hear of the end later. Example:
    {"subagent_type": "reviewer", "prompt": "Review src/parser.py for errors in its edge cases."}

    Args:
        subagent_type: The name of the subagent.
        prompt: What it is to do, whole.
        background: Whether to go on without waiting for it.
        metadata: What the host keeps with its session.
    """
    work = Work(agent=subagent_type, prompt=prompt, background=background, metadata=metadata)
    return await delegation.start(work)
