"""`session_delegate`: hand work to a new session of the same agent, which outlives the call."""

from holdfast.contract.builtin import builtin
from holdfast.contract.delegation import ChildTask
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.events import WantedOutcome
from holdfast.contract.managed.sessions import ChildWork, DelegatedSession


@builtin(
    read_only=False,
    effects=("session_write",),
    acp_kind="think",
    interrupt_behavior="cancel",
)
async def session_delegate(
    message: str,
    children: ChildWork,
    title: str | None = None,
    detail: str | None = None,
    success_criteria: tuple[str, ...] = (),
) -> DelegatedSession:
    """Give a task to a child session; session_run_child runs it, or it runs when due.

    Example: {"message": "List every caller of parse() in src.", "title": "Callers of parse"}

    Args:
        message: The whole task: it knows nothing of this conversation.
        title: The outcome to reach, in a few words.
        detail: More about that.
        success_criteria: How to tell that it is done.
    """
    if not message.strip():
        raise InvalidArguments("session_delegate requires a non-empty message", field="message")
    named, more = (title or "").strip(), (detail or "").strip()
    criteria = tuple(dict.fromkeys(text for one in success_criteria if (text := one.strip())))
    if not named and (more or criteria):
        raise InvalidArguments(
            "detail and success_criteria belong to an outcome, and that needs a title",
            field="title",
            expected="a few words for what is to come of it",
        )
    wanted = WantedOutcome(title=named, detail=more or None, success_criteria=criteria)
    task = ChildTask(message=message.strip(), outcome=wanted if named else None)
    return await children.delegate(task)
