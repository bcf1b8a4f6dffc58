"""A program whose output somebody else reads: started in a warden, ended from any thread.

Whatever becomes of who reads, its end is waited for here, and its spawner goes back.
"""

import asyncio
import signal
from collections.abc import Sequence
from contextlib import suppress

from holdfast.execution.processes.spawners import SandboxUnavailable, Spawner, Start
from holdfast.execution.processes.wardens import Warden
from holdfast.execution.warden.wire import Ended


class Started:
    """A program that runs."""

    def __init__(self, warden: Warden, spawner: Spawner, start: Start) -> None:
        self._warden = warden
        self._spawner = spawner
        self._loop = asyncio.get_running_loop()
        self._ending = self._loop.create_task(self._to_its_end(spawner.start(start)))
        self._ending.add_done_callback(self._given_up)

    def kill(self) -> None:
        """End it at once, from any thread. Once more is harmless."""
        with suppress(RuntimeError):  # the loop is gone, and with it the warden's line
            self._loop.call_soon_threadsafe(self._kill)

    async def ended(self) -> int | None:
        """Its exit code; None: it could not be started, or its sandbox is gone."""
        return await asyncio.shield(self._ending)

    def _kill(self) -> None:
        if not self._ending.done():
            self._spawner.signal(signal.SIGKILL)

    def _given_up(self, ending: "asyncio.Task[int | None]") -> None:
        # Not where it waits: a task that is cancelled before its first step never comes there.
        if ending.cancelled():
            self._spawner.close()

    async def _to_its_end(self, ended: "asyncio.Future[Ended]") -> int | None:
        try:
            told = await ended
        except (OSError, SandboxUnavailable):
            told = None
        await self._warden.give_back(self._spawner)
        return None if told is None else told.exit


def begin(warden: Warden, argv: Sequence[str], cwd: str, files: Sequence[int]) -> Started:
    """Start a program with these files and an empty environment; raises SandboxUnavailable."""
    return Started(warden, warden.spawner(), Start(argv, cwd, {}, files))
