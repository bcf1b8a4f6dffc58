"""`todo`: the session's list of what is to be done."""

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.json_value import plain
from holdfast.contract.runtime import Progress, Runtime
from holdfast.contract.todos import Todo, TodoList


class Listed(msgspec.Struct, frozen=True):
    """The list is kept."""

    count: int
    ok: bool = True


@builtin(
    read_only=False,
    effects=("session_write",),
    acp_kind="think",
    interrupt_behavior="block",
    inline=True,
)
def todo(rt: Runtime, todos: list[Todo], todo_list: TodoList) -> Listed:
    """Keep a to-do list for this session; each call replaces the whole list.

    Use it for work of three or more steps, and keep one item in_progress at a time. Example:
    {"todos": [{"content": "Run the tests", "active_form": "Running the tests",
    "status": "in_progress"}]}

    Args:
        todos: The whole list, in the order it is to be done; empty to clear it.
    """
    if todo_list.replace(todos):
        rt.progress(Progress(message=_said(todos), partial=plain({"todos": todos})))
    return Listed(count=len(todos))


def _said(todos: list[Todo]) -> str:
    done = sum(one.status == "completed" for one in todos)
    active = next((one.active_form for one in todos if one.status == "in_progress"), None)
    return f"{done} of {len(todos)} done" + (f": {active}" if active else "")
