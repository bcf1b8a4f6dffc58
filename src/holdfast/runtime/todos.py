"""The to-do list of one session, in memory."""

from collections.abc import Sequence

from holdfast.contract.todos import Todo


class SessionTodos:
    """What the session was told last."""

    def __init__(self) -> None:
        self._todos: tuple[Todo, ...] = ()

    def replace(self, todos: Sequence[Todo], /) -> bool:
        """It is this from now on, all of it; False: it was the same before."""
        before, self._todos = self._todos, tuple(todos)
        return before != self._todos

    def all(self) -> tuple[Todo, ...]:
        """The list as it is now."""
        return self._todos
