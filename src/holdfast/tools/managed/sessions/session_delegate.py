"""`session_delegate`: hand work to a new session of the same agent, which outlives the call."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.delegation import ChildSessions, ChildTask, SeededChild
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.events import WantedOutcome


@builtin(
    read_only=False,
    effects=("session_write",),
    acp_kind="think",
    interrupt_behavior="cancel",
)
async def session_delegate(
    message: Annotated[str, msgspec.Meta(min_length=1)],
    children: ChildSessions,
    title: str | None = None,
    detail: str | None = None,
    success_criteria: tuple[str, ...] = (),
) -> SeededChild:
    """Make a child session of the same agent that holds a bounded task.

    It knows nothing of this conversation: say in the message all it needs. Run it with
    session_run_child, or leave it: it is run when it is due, and you hear where it came to rest.
    Example: {"message": "List every caller of parse() in src.", "title": "Callers of parse"}

    Args:
        message: What it is to do, whole.
        title: What is to come of it, in a few words.
        detail: More about that.
        success_criteria: How to tell that it is done, e.g. ["every caller is named with its line"].
    """
    if not message.strip():
        raise InvalidArguments("session_delegate requires a non-empty message", field="message")
    named = (title or "").strip()
    if not named and (detail or success_criteria):
        raise InvalidArguments(
            "detail and success_criteria belong to an outcome, and that needs a title",
            field="title",
            expected="a few words for what is to come of it",
        )
    criteria = dict.fromkeys(one.strip() for one in success_criteria)
    wanted = WantedOutcome(
        title=named, detail=detail, success_criteria=tuple(filter(None, criteria))
    )
    return await children.delegate(ChildTask(message=message, outcome=wanted if named else None))
