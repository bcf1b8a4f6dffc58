"""What every loop does: a model asks for `add(1, 2)` and then says what came of it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

QUESTION = "What is 1 + 2? Use the tool."
MODEL = "fake"
KEY = "not-a-key"
CONCURRENT = 100

Role = Literal["ours", "also ours", "peer", "limit", "floor"]
"""Limit and floor: loops by hand, which nobody is compared to."""


async def nothing(_loops: int) -> None:
    """What most need before they are measured."""


@dataclass(frozen=True)
class Loop:
    """One library's loop."""

    path: str
    role: Role
    once: Callable[[], Awaitable[str]]
    """A whole loop; what the model said in the end."""
    many: Callable[[], Awaitable[list[str]]] | None = None
    """`CONCURRENT` loops at once, where that is not so many tasks."""
    idle_bytes: Callable[[], Awaitable[float]] | None = None
    """Memory of one session that waits for its person, in bytes."""
    prepare: Callable[[int], Awaitable[None]] = nothing
    """Is told how many loops come next, before the clock starts."""


class Counted:
    """How often the tool has really run."""

    def __init__(self) -> None:
        self.runs = 0


runs = Counted()


def added(a: int, b: int) -> int:
    """What the tool of every library does."""
    runs.runs += 1
    return a + b
