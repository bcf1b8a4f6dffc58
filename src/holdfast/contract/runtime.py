"""What one call is handed: the only way a tool body reaches the world.

Protocols and values. Who implements them is not known here.
"""

from collections.abc import Callable
from typing import Protocol

import msgspec

from holdfast.contract.json_value import JsonValue


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """A sign of life from a running tool."""

    message: str | None = None
    done: float | None = None
    total: float | None = None
    partial: JsonValue = None
    """What there is of the result so far."""


class ProgressSink(Protocol):
    """Where signs of life go. Safe to call from any thread."""

    def __call__(self, progress: Progress, /) -> None:
        """Report."""
        ...


class AbortSignal(Protocol):
    """Tells a body that its work is no longer wanted."""

    @property
    def aborted(self) -> bool:
        """Whether the call should stop."""
        ...

    async def wait(self) -> None:
        """Return once the call should stop."""
        ...

    def subscribe(self, stop: Callable[[], None], /) -> Callable[[], None]:
        """Have ``stop`` called once, from any thread, when the call should stop.

        Returns what takes the subscription back.
        """
        ...


class SessionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a body may know of the session it runs in."""

    id: str
    workspace: str | None = None


class Runtime(msgspec.Struct, frozen=True, kw_only=True):
    """The capability surface of one call."""

    call_id: str
    session: SessionFacts
    progress: ProgressSink
    abort: AbortSignal
