"""One command from its start to its end, within its limits: whatever happens, a report comes back.

It is over when the leader has exited and a short drain is done, or when a limit, an abort or a
person ended it: SIGTERM to the group, a grace period, then SIGKILL to everything it started. What
it printed until then is always in the report. Where it runs and what it may reach is decided
elsewhere.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from holdfast.contract.runtime import AbortSignal
from holdfast.contract.shell import KilledBy
from holdfast.execution.processes.capture import Capture, Captured
from holdfast.execution.processes.feed import Feed
from holdfast.execution.processes.spawners import SandboxLost, Spawner, Start
from holdfast.execution.processes.wardens import Warden
from holdfast.execution.warden.wire import Ended

GRACE_SECONDS = 3.0
DRAIN_SECONDS = 0.25
OUTER_SECONDS = 10.0
"""Past every other limit: then the command is given up, whatever it waits for."""


class Limits(NamedTuple):
    """How long a command may take; None: as long as it likes."""

    wall: float | None = None
    idle: float | None = None
    """Without a byte of output on either stream."""
    grace: float = GRACE_SECONDS


class Command(NamedTuple):
    """What to run."""

    argv: Sequence[str]
    cwd: str
    environment: Mapping[str, str]
    stdin: bytes | None = None


class Report(NamedTuple):
    """How it went."""

    ended: Ended | None
    """None when it was given up before anybody knew."""
    captured: Captured
    killed_by: KilledBy | None
    seconds: float
    unstarted: str | None = None
    """Why it could not be started at all."""
    left: "Left | None" = None
    """The leader has exited, but something it started still holds its output."""


class Left(NamedTuple):
    """What goes on after its leader: it keeps its spawner and its capture."""

    spawner: Spawner
    capture: Capture


async def run(
    warden: Warden,
    command: Command,
    limits: Limits,
    capture: Callable[[Callable[[], None]], Capture],
    abort: AbortSignal | None = None,
) -> Report:
    """Run a command to its end. Cancelled, it takes the command with it."""
    running = await start(warden, command, limits, capture)
    return await running.finish(abort)


async def start(
    warden: Warden,
    command: Command,
    limits: Limits,
    capture: Callable[[Callable[[], None]], Capture],
) -> "Running":
    """Start a command; raises SandboxUnavailable."""
    spawner = await warden.spawner()
    running = Running(warden, spawner, limits)
    reading = running.capture = capture(running.heard)
    feed = running.feed = Feed(command.stdin)
    opened = [feed.end, reading.pipe("stdout"), reading.pipe("stderr")]
    try:
        begun = Start(command.argv, command.cwd, command.environment, opened)
        running.begin(spawner.start(begun))
    finally:
        for file in opened:
            os.close(file)
    return running


class Running:
    """A command that runs."""

    capture: Capture
    feed: Feed

    def __init__(self, warden: Warden, spawner: Spawner, limits: Limits) -> None:
        self._warden = warden
        self._spawner = spawner
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[KilledBy | None] = self._loop.create_future()
        self._ended: asyncio.Future[Ended]
        self._begun = self._heard = self._loop.time()
        self._wall: asyncio.TimerHandle | None = None
        self._idle: asyncio.TimerHandle | None = None

    def begin(self, ended: "asyncio.Future[Ended]") -> None:
        """It was started: its limits count from now."""
        self._ended = ended
        ended.add_done_callback(lambda _: self._finish(None))
        if self._limits.wall is not None:
            self._wall = self._loop.call_later(self._limits.wall, self._finish, "timeout")
        if self._limits.idle is not None:
            self._idle = self._loop.call_later(self._limits.idle, self._check_idle)

    def heard(self) -> None:
        """A byte came: the idle limit begins again."""
        self._heard = self._loop.time()

    def terminate(self, by: KilledBy = "user") -> None:
        """End it. Once more is harmless; safe from any thread."""
        self._loop.call_soon_threadsafe(self._finish, by)

    async def finish(self, abort: AbortSignal | None = None) -> Report:
        """Take it to its end."""
        take_back = abort.subscribe(lambda: self.terminate("abort")) if abort else None
        try:
            killed_by = await self._over
            async with asyncio.timeout(self._limits.grace + OUTER_SECONDS):
                return await self._reported(killed_by)
        except TimeoutError:
            return self._given_up("lost")
        except asyncio.CancelledError:
            self._let_go()
            raise
        finally:
            for timer in (self._wall, self._idle):
                if timer:
                    timer.cancel()
            self.feed.close()
            if take_back:
                take_back()

    async def _reported(self, killed_by: KilledBy | None) -> Report:
        try:
            if killed_by is not None:
                await self._kill()
            ended = await self._ended
        except OSError as problem:
            await self._warden.give_back(self._spawner)
            return self._report(None, None, problem.strerror or str(problem))
        except SandboxLost:
            return self._given_up("lost")
        if killed_by is None and not await self.capture.wait_closed(DRAIN_SECONDS):
            return self._report(ended, None, left=Left(self._spawner, self.capture))
        await self._warden.give_back(self._spawner)
        await self.capture.wait_closed(DRAIN_SECONDS)
        return self._report(ended, killed_by)

    async def _kill(self) -> None:
        """Ask it to end, then end all that it started."""
        if not self._ended.done() and self._limits.grace:
            self._spawner.signal(signal.SIGTERM)
            self._spawner.signal(signal.SIGCONT)
            await asyncio.wait([self._ended], timeout=self._limits.grace)
        if not self._ended.done():
            self._spawner.signal(signal.SIGKILL)

    def _report(
        self,
        ended: Ended | None,
        killed_by: KilledBy | None,
        unstarted: str | None = None,
        left: Left | None = None,
    ) -> Report:
        captured = self.capture.so_far()
        if left is None:
            self.capture.close()
        seconds = self._loop.time() - self._begun
        return Report(ended, captured, killed_by, seconds, unstarted, left)

    def _given_up(self, by: KilledBy) -> Report:
        self._spawner.close()
        return self._report(None, by)

    def _let_go(self) -> None:
        self._spawner.close()
        self.capture.close()

    def _check_idle(self) -> None:
        idle = self._limits.idle or 0.0
        quiet = self._loop.time() - self._heard
        if quiet >= idle:
            self._finish("idle")
        else:
            self._idle = self._loop.call_later(idle - quiet, self._check_idle)

    def _finish(self, by: KilledBy | None) -> None:
        if not self._over.done():
            self._over.set_result(by)
