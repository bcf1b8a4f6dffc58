"""One background job: followed from its start until nothing of it is left."""

import asyncio
import signal
from typing import Literal, NamedTuple

from holdfast.contract.ports import Clock
from holdfast.contract.shell import JobFacts, KilledBy
from holdfast.execution.processes.capture import Capture
from holdfast.execution.processes.command import DRAIN_SECONDS, Left, Report, Running
from holdfast.execution.processes.job_log import JobLog
from holdfast.execution.processes.register import Ending, Entered, LiveRegister, exit_of
from holdfast.execution.processes.wardens import Warden

EndedBy = Literal["user", "session"]

_NANOSECONDS = 1e9


class Origin(NamedTuple):
    """What a job was started as."""

    id: str
    command: str
    cwd: str
    call_id: str


class Job:
    """A command that goes on in the background."""

    def __init__(
        self, origin: Origin, clock: Clock, log: JobLog, capture: Capture, pid: int | None = None
    ) -> None:
        self.origin = origin
        self.log = log
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Set when nothing of it is left."""
        self._clock = clock
        self._capture = capture
        self._pid = pid
        self._started_at = clock.now()
        self._begun = clock.ticks()
        self._ended: int | None = None
        self._ending = Ending(None, None)
        self._forced = False
        self._running: Running | None = None
        self._wanted: asyncio.Future[tuple[EndedBy, float]] = self.over.get_loop().create_future()
        self._following: asyncio.Task[None] | None = None

    def follow(self, warden: Warden, running: Running) -> None:
        """Follow it from its start."""
        self._running = running
        self._following = asyncio.create_task(self._follow(warden, running))

    def follow_left(self, warden: Warden, left: Left) -> None:
        """Follow what went on after its leader."""
        self._following = asyncio.create_task(self._follow_left(warden, left, None))

    def enter_into(self, register: LiveRegister) -> None:
        """Let a person see it and end it."""
        number = register.enter(
            Entered(
                "job",
                self.origin.command,
                self.origin.call_id,
                self._started_at,
                self._capture.printout.last,
                self._end_for,
            )
        )
        self.over.add_done_callback(lambda _: register.leave(number, self._ending))

    def terminate(self, by: EndedBy, grace: float) -> None:
        """End it and all it started. Once more is harmless."""
        if not self._wanted.done():
            self._wanted.set_result((by, grace))
        if self._running is not None:
            self._running.terminate("user", grace)

    def facts(self) -> JobFacts:
        """How it stands."""
        over, until = self.over.done(), self._ended or self._clock.ticks()
        killed_by = self._ending.killed_by
        return JobFacts(
            id=self.origin.id,
            command=self.origin.command,
            cwd=self.origin.cwd,
            state=("exited" if killed_by is None else "killed") if over else "running",
            exit_code=self._ending.exit_code,
            killed_by=killed_by,
            forced=self._forced,
            pid=self._pid,
            started_at=self._started_at.isoformat(),
            seconds=(until - self._begun) / _NANOSECONDS,
            log_path=self.log.path,
            byte_count=self._capture.printout.count,
        )

    def _end_for(self, by: KilledBy, grace: float | None) -> None:
        """As the register has it ended: by a person, or by the end of the session."""
        wanted = "user" if by == "user" else "session"
        self.over.get_loop().call_soon_threadsafe(
            self.terminate, wanted, 3.0 if grace is None else grace
        )

    async def _follow(self, warden: Warden, running: Running) -> None:
        report = await running.finish()
        self._running = None
        if report.left is not None:
            await self._follow_left(warden, report.left, report)
        else:
            self._close(self._how(report))

    async def _follow_left(self, warden: Warden, left: Left, report: Report | None) -> None:
        """Until nothing holds its output any more, or somebody ends it."""
        closing = asyncio.create_task(left.capture.wait_closed(None))
        await asyncio.wait([closing, self._wanted], return_when=asyncio.FIRST_COMPLETED)
        ended_by: EndedBy | None = None
        if not closing.done():
            ended_by, grace = self._wanted.result()
            left.spawner.signal(signal.SIGTERM)
            left.spawner.signal(signal.SIGCONT)
            await asyncio.wait([closing], timeout=grace)
            self._forced = not closing.done()
        await warden.give_back(left.spawner)
        await asyncio.wait([closing], timeout=DRAIN_SECONDS)
        left.capture.close()
        await closing
        if ended_by is None and left.spawner.lost:
            self._forced = True
            self._close(Ending(None, "lost"))
        elif ended_by is not None:
            self._close(Ending(None, ended_by))
        else:
            self._close(self._how(report))

    def _how(self, report: Report | None) -> Ending:
        if report is None:
            return Ending(None, None)
        if report.killed_by == "lost":
            self._forced = True
            return Ending(None, "lost")
        if report.killed_by is not None:
            self._forced = report.ended is None or report.ended.exit == -signal.SIGKILL
            return Ending(None, self._wanted.result()[0])
        return Ending(*exit_of(report.ended.exit if report.ended else None))

    def _close(self, ending: Ending) -> None:
        self._ending = ending
        self._ended = self._clock.ticks()
        self.over.set_result(None)
