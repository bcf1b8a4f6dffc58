"""What marks a protocol as a port that a call may be handed.

A tool names such a port as an annotated parameter: ``async def todo(items: ..., todos: TodoList)``.
Models do not see it. Who stands behind it is the host's choice; where nobody does, the call is
answered with `unavailable`.
"""

from typing import Protocol, TypeGuard


class CallPort(Protocol):
    """Every port of a call is a protocol below this one."""


def is_call_port(annotation: object) -> TypeGuard[type[object]]:
    """Whether a parameter of this annotation is handed in by the host."""
    return (
        isinstance(annotation, type)
        and CallPort in annotation.__mro__
        and annotation is not CallPort
    )
