"""The spawners of a warden that wait for the next call.

A spawner serves one call at a time and is used again: being confined once, it costs the next call
nothing. Those used longest ago are let go, never under a process that still runs. One more is kept
prepared for a call beside those that run: nobody waits until a new one is confined.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from holdfast.execution.processes.spawners import SandboxUnavailable, Spawner

MOST_IDLE = 4
"""Spawners kept for the next calls; further ones are let go."""
_REFILL_SECONDS = 0.01
"""After which one is prepared ahead: not while the one before it is at work."""


class SpawnerPool:
    """Lends them."""

    def __init__(self, opened: Callable[[], Spawner], hang_up: Callable[[], None]) -> None:
        """``opened`` makes one, or raises SandboxUnavailable; a dead warden is told to hang up."""
        self._opened = opened
        self._hang_up = hang_up
        self._idle: list[Spawner] = []
        self._lent: set[Spawner] = set()
        self._fresh: Spawner | None = None
        self._refilling: asyncio.TimerHandle | None = None

    @property
    def busy(self) -> bool:
        """Whether somebody has one."""
        return any(not spawner.lost for spawner in self._lent)

    def take(self) -> Spawner:
        """One that is free: used before, or new; raises SandboxUnavailable."""
        spawner = self._free()
        self._lent = {one for one in self._lent if not one.lost} | {spawner}
        return spawner

    def _free(self) -> Spawner:
        while self._idle:
            spawner = self._idle.pop()
            if not spawner.lost:
                return spawner
        spawner, self._fresh = self._fresh, None
        if spawner is None or spawner.lost:
            spawner = self._opened()
        if self._refilling is None:
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
        self._lent.discard(spawner)
        self._idle.append(spawner)
        if len(self._idle) > MOST_IDLE:
            self._idle.pop(0).close()

    def close(self) -> None:
        """Let go of all that wait."""
        if self._refilling is not None:
            self._refilling.cancel()
        for spawner in (*self._idle, self._fresh):
            if spawner is not None:
                spawner.close()

    def _refill(self) -> None:
        self._refilling = None
        with suppress(SandboxUnavailable):
            self._fresh = self._opened()
