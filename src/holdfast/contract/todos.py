"""A session's to-do list, as a tool writes it and a surface shows it."""

from collections.abc import Sequence
from typing import Annotated, Literal, Protocol

import msgspec

from holdfast.contract.call_port import CallPort

TodoStatus = Literal["pending", "in_progress", "completed"]


class Todo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing to do."""

    content: Annotated[str, msgspec.Meta(min_length=1, description="What is to be done.")]
    active_form: Annotated[
        str, msgspec.Meta(description="The same while it is being done: `Running the tests`.")
    ]
    status: Annotated[TodoStatus, msgspec.Meta(description="How far it is.")]


class TodoList(CallPort, Protocol):
    """The list of the calling session; no other session has it."""

    def replace(self, todos: Sequence[Todo], /) -> bool:
        """It is this from now on, all of it; False: it was the same before."""
        ...

    def all(self) -> tuple[Todo, ...]:
        """The list as it is now."""
        ...
