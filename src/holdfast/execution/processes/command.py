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
from holdfast.execution.processes.limits import Limits, Watch
from holdfast.execution.processes.spawners import SandboxLost, Spawner, Start
from holdfast.execution.processes.waiting import awaited_input
from holdfast.execution.processes.wardens import Warden
from holdfast.execution.program_record import UNRECORDED, Record
from holdfast.execution.warden.wire import Ended

__all__ = ["Command", "Left", "Limits", "Report", "Running", "run", "start"]

DRAIN_SECONDS = 0.25
REST_SECONDS = 5.0
"""For what was printed and is not read yet, where nothing more can come."""
OUTER_SECONDS = 10.0
"""Past every other limit: then the command is given up, whatever it waits for."""


class Command(NamedTuple):
    """What to run."""

    argv: Sequence[str]
    cwd: str
    environment: Mapping[str, str]
    stdin: bytes | None = None
    record: Record = UNRECORDED
    """Its line in the audit log."""


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
    waiting_for: str | None = None
    """What it had printed last, when it was ended while it waited for input."""


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
    *,
    tell: bool = False,
) -> "Running":
    """Start a command; raises SandboxUnavailable. ``tell``: `started` is going to be asked."""
    record = command.record
    record.begins_in(command.cwd)
    try:
        spawner = warden.spawner()
        running = Running(warden, spawner, limits, record)
        reading = running.capture = capture(running.heard)
        feed = running.feed = Feed(command.stdin)
        opened = [feed.end, reading.pipe("stdout"), reading.pipe("stderr")]
        try:
            begun = Start(command.argv, command.cwd, command.environment, opened)
            running.begin(spawner.start(begun, tell=tell))
        finally:
            for file in opened:
                os.close(file)
    except BaseException:
        record.over(None)
        raise
    return running


class Running:
    """A command that runs."""

    capture: Capture
    feed: Feed

    def __init__(self, warden: Warden, spawner: Spawner, limits: Limits, record: Record) -> None:
        self._warden = warden
        self._record = record
        self._spawner = spawner
        self._watch = Watch(limits)
        self._ended: asyncio.Future[Ended]
        self._leaves_some = True
        self.when_over: Callable[[Report | None], None] = _tell_nobody
        """Called when it is over, with its report; None: whoever waited for it gave up."""

    def begin(self, ended: "asyncio.Future[Ended]") -> None:
        """It was started: its limits count from now."""
        self._ended = ended
        ended.add_done_callback(lambda _: self._watch.end(None))
        self._watch.begin()

    async def started(self) -> int:
        """The number of its process inside of its sandbox; OSError when there is none."""
        return await self._spawner.started()

    def heard(self) -> None:
        """A byte came: the idle limit begins again."""
        self._watch.heard()

    def terminate(self, by: KilledBy = "user", grace: float | None = None) -> None:
        """End it. Once more is harmless; safe from any thread."""
        self._watch.terminate(by, grace)

    async def finish(self, abort: AbortSignal | None = None, *, leaves_some: bool = True) -> Report:
        """Take it to its end; ``leaves_some``: what outlives its leader may be left running."""
        self._watch.follow(abort)
        self._leaves_some = leaves_some
        try:
            report = await self._to_the_end()
        except BaseException:
            self.abandon()
            self._leave(None)
            raise
        self._leave(report)
        return report

    def abandon(self) -> None:
        """End it without waiting for that: nobody wants to know any more."""
        captured = self.capture.so_far()
        self._record.over(None, self._watch.seconds(), captured.stdout, captured.stderr)
        self._spawner.close()
        self.capture.close()

    def _leave(self, report: Report | None) -> None:
        self._watch.stop()
        self.feed.close()
        if report is not None:
            ended = None if report.killed_by else report.ended
            status = None if ended is None else ended.exit
            printed = report.captured.stdout, report.captured.stderr
            self._record.over(status, report.seconds, *printed)
        self.when_over(report)

    async def _to_the_end(self) -> Report:
        killed_by = await self._watch.over
        try:
            async with asyncio.timeout(self._watch.grace + OUTER_SECONDS):
                return await self._reported(killed_by)
        except TimeoutError:
            return self._given_up("lost")

    async def _reported(self, killed_by: KilledBy | None) -> Report:
        prompt: str | None = None
        try:
            if killed_by in ("timeout", "idle"):
                prompt = await awaited_input(self._warden.keeper, self.capture)
            if killed_by is not None:
                await end_politely(self._spawner, self._ended, self._watch.grace)
            ended = await self._ended
        except OSError as problem:
            await self._warden.give_back(self._spawner)
            return self._report(None, None)._replace(unstarted=problem.strerror or str(problem))
        except SandboxLost:
            return self._given_up("lost")
        closed = killed_by is None and await self.capture.wait_closed(DRAIN_SECONDS)
        if killed_by is None and not closed and self._leaves_some:
            return self._report(ended, None, left=Left(self._spawner, self.capture))
        await self._warden.give_back(self._spawner)
        # Nobody is left who could hold the pipes open: all that was printed can be read.
        await self.capture.wait_closed(DRAIN_SECONDS if killed_by else REST_SECONDS)
        return self._report(ended, killed_by)._replace(waiting_for=prompt)

    def _report(
        self, ended: Ended | None, killed_by: KilledBy | None, left: Left | None = None
    ) -> Report:
        captured = self.capture.so_far()
        if left is None:
            self.capture.close()
        return Report(ended, captured, killed_by, self._watch.seconds(), left=left)

    def _given_up(self, by: KilledBy) -> Report:
        self._spawner.close()
        return self._report(None, by)


async def end_politely(spawner: Spawner, ended: "asyncio.Future[Ended]", grace: float) -> None:
    """Ask a process and its group to end, and end them if they did not in time."""
    if not ended.done() and grace:
        spawner.signal(signal.SIGTERM)
        spawner.signal(signal.SIGCONT)
        await asyncio.wait([ended], timeout=grace)
    if not ended.done():
        spawner.signal(signal.SIGKILL)


def _tell_nobody(_report: Report | None) -> None:
    """Nobody watches."""
