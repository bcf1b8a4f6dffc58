"""When a command is over: it has ended, a limit was reached, or somebody wants it to end.

Timers alone: how it is then ended is decided elsewhere.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from holdfast.contract.runtime import AbortSignal
from holdfast.contract.shell import KilledBy

GRACE_SECONDS = 3.0


class Limits(NamedTuple):
    """How long a command may take; None: as long as it likes."""

    wall: float | None = None
    idle: float | None = None
    """Without a byte of output on either stream."""
    grace: float = GRACE_SECONDS


class Watch:
    """Watches over one command from its start to its end."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self.over: asyncio.Future[KilledBy | None] = self._loop.create_future()
        """Set once: by whom it is to be ended, or None when it has ended."""
        self.grace = limits.grace
        self._begun = self._heard = self._loop.time()
        self._wall: asyncio.TimerHandle | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._take_back: Callable[[], None] | None = None

    def begin(self) -> None:
        """It was started: its limits count from now."""
        if self._limits.wall is not None:
            self._wall = self._loop.call_later(self._limits.wall, self.end, "timeout")
        if self._limits.idle is not None:
            self._idle = self._loop.call_later(self._limits.idle, self._check_idle)

    def follow(self, abort: AbortSignal | None) -> None:
        """An abort ends it, too."""
        if abort is not None:
            self._take_back = abort.subscribe(lambda: self.terminate("abort"))

    def heard(self) -> None:
        """A byte came: the idle limit begins again."""
        self._heard = self._loop.time()

    def end(self, by: KilledBy | None) -> None:
        """It has ended, or shall. The first who says so is right."""
        if not self.over.done():
            self.over.set_result(by)

    def terminate(self, by: KilledBy, grace: float | None = None) -> None:
        """End it. Once more is harmless; safe from any thread."""
        self._loop.call_soon_threadsafe(self._terminate, by, grace)

    def seconds(self) -> float:
        """Since its start."""
        return self._loop.time() - self._begun

    def stop(self) -> None:
        """Watch no longer."""
        for timer in (self._wall, self._idle):
            if timer:
                timer.cancel()
        if self._take_back:
            self._take_back()

    def _terminate(self, by: KilledBy, grace: float | None) -> None:
        if grace is not None:
            self.grace = grace
        self.end(by)

    def _check_idle(self) -> None:
        idle = self._limits.idle or 0.0
        quiet = self._loop.time() - self._heard
        if quiet >= idle:
            self.end("idle")
        else:
            self._idle = self._loop.call_later(idle - quiet, self._check_idle)
