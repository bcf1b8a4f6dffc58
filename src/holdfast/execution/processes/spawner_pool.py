"""The spawners of a warden that wait for the next call.

A spawner serves one call at a time and is used again: being confined once, it costs the next call
nothing. Those used longest ago are let go, never under a process that still runs. One more is kept
prepared and not confined yet, for the next policy or for a call beside those that run.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from holdfast.execution.processes.spawners import (
    Narrower,
    SandboxLost,
    SandboxUnavailable,
    Spawner,
)

MOST_IDLE = 4
"""Spawners kept for the next calls; further ones are let go."""
_REFILL_SECONDS = 0.01
"""After which one is prepared ahead: not while the one before it is at work."""


class SpawnerPool:
    """Lends them."""

    def __init__(self, opened: Callable[[], Spawner], hang_up: Callable[[], None]) -> None:
        """``opened`` makes one, or raises SandboxLost; ``hang_up`` is told of a dead warden."""
        self._opened = opened
        self._hang_up = hang_up
        self._idle: list[Spawner] = []
        self._blank: Spawner | None = None
        self._refilling: asyncio.TimerHandle | None = None
        self._closed = False

    def take(self, narrower: Narrower | None) -> Spawner:
        """One that is free and confined like this: used before, or new; raises SandboxLost."""
        for place in reversed(range(len(self._idle))):
            if self._idle[place].narrower == narrower:
                spawner = self._idle.pop(place)
                if not spawner.lost:
                    return spawner
        spawner, self._blank = self._blank, None
        if spawner is None or spawner.lost:
            spawner = self._opened()
        spawner.confine(narrower)
        if self._refilling is None and not self._closed:
            loop = asyncio.get_running_loop()
            self._refilling = loop.call_later(_REFILL_SECONDS, self._refill)
        return spawner

    async def give_back(self, spawner: Spawner) -> None:
        """End what is left of a call, and keep the spawner for the next."""
        try:
            if not spawner.alone:
                await spawner.end()
        except TimeoutError:
            self._hang_up()
            spawner.close()
            return
        except SandboxUnavailable:
            spawner.close()
            return
        except BaseException:
            spawner.close()
            raise
        self._idle.append(spawner)
        if len(self._idle) > MOST_IDLE:
            self._idle.pop(0).close()

    def close(self) -> None:
        """Let go of all that wait."""
        self._closed = True
        if self._refilling is not None:
            self._refilling.cancel()
        for spawner in (*self._idle, self._blank):
            if spawner is not None:
                spawner.close()

    def _refill(self) -> None:
        self._refilling = None
        if self._blank is None:
            with suppress(SandboxLost):
                self._blank = self._opened()
