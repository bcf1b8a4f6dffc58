"""The background jobs of a session: commands that go on after the call that started them.

A job is over when its leader has ended and nothing holds its output any more. It ends with the
session at the latest. Only what was started or taken over here can be asked for or ended.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from holdfast.contract.errors import (
    InvalidArguments,
    OperationFailed,
    SandboxNotRunning,
    Unavailable,
)
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.shell import CommandText, JobFacts, JobWait
from holdfast.execution.processes import command as commanding
from holdfast.execution.processes.capture import Capture
from holdfast.execution.processes.command import Command, Left, Running
from holdfast.execution.processes.job import Job, Origin
from holdfast.execution.processes.job_log import JobLog
from holdfast.execution.processes.job_waits import listens, search
from holdfast.execution.processes.limits import Limits
from holdfast.execution.processes.past_jobs import PastJobs, end_of_log
from holdfast.execution.processes.register import LiveRegister
from holdfast.execution.processes.reports import argv_of
from holdfast.execution.processes.sandbox import Sandbox
from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.program_record import UNRECORDED, Record

START_SECONDS = 10.0
MOST_RUNNING = 16
MOST_FINISHED = 64
"""So many finished ones are kept whole; of older ones how they ended, and their logs."""
LOG_BYTES = 256 * 1024 * 1024


class JobsParts(NamedTuple):
    """What the jobs of a session are made from."""

    sandbox: Sandbox
    ids: IdSource
    clock: Clock
    register: LiveRegister
    folder: str
    """Where logs go: the session's own."""
    log_bytes: int = LOG_BYTES


class SessionJobs:
    """Starts jobs, follows them, and ends them with the session."""

    def __init__(self, parts: JobsParts) -> None:
        self._parts = parts
        self._jobs: dict[str, Job] = {}
        self._past = PastJobs()

    async def start(
        self,
        command: CommandText,
        /,
        *,
        cwd: str | None = None,
        environment: Mapping[str, str] | None = None,
        call_id: str = "",
        record: Record = UNRECORDED,
    ) -> JobFacts:
        """Start one; OperationFailed when it cannot be started."""
        if self._running() >= MOST_RUNNING:
            raise OperationFailed(f"{MOST_RUNNING} background jobs are running; end one first")
        place = cwd or self._parts.sandbox.parts.workspace
        begun = Command(argv_of(command), place, environment or {}, record=record)
        try:
            async with asyncio.timeout(START_SECONDS):
                job = await self._started(self._origin(command, place, call_id), begun)
        except (SandboxUnavailable, OSError) as problem:
            begun.record.over(None)
            raise _unstarted(problem) from None
        return self._add(job)

    async def adopt(
        self, left: Left, command: str, cwd: str, *, call_id: str = ""
    ) -> JobFacts | None:
        """Take over what goes on after its leader; None when there are too many: it was ended.

        Its log begins here; what it printed before is in the command's own report.
        """
        warden = await self._parts.sandbox.warden()
        if self._running() >= MOST_RUNNING:
            await warden.give_back(left.spawner)
            left.capture.close()
            return None
        log = await self._log()
        left.capture.printout.turn_to(log)
        job = Job(self._origin(command, cwd, call_id), self._parts.clock, log, left.capture)
        job.follow_left(warden, left)
        return self._add(job)

    def all(self) -> tuple[JobFacts, ...]:
        """Every job of the session, the oldest first."""
        return (*self._past.all(), *(job.facts() for job in self._jobs.values()))

    def has(self, job: str, /) -> bool:
        """Whether there is such a job here."""
        return job in self._jobs or self._past.get(job) is not None

    def poll(self, job: str, /) -> JobFacts:
        """How it stands; InvalidArguments when there is no such job."""
        return self._past.get(job) or self._job(job).facts()

    async def wait(
        self, job: str, /, *, seconds: float, port: int | None = None, pattern: str | None = None
    ) -> JobWait:
        """Wait until it ends, until it listens on a port, or until its log holds a pattern."""
        if port is not None and pattern is not None:
            raise InvalidArguments("wait for a port or for a pattern, not for both", field="port")
        past = self._past.get(job)
        if past is not None:
            return _waited_for_past(past, port, pattern)
        waited = self._job(job)
        if pattern is not None:
            matched = await search(self._parts.sandbox, waited, pattern, seconds)
            return JobWait(facts=waited.facts(), met=matched is not None, matched=matched)
        if port is not None:
            met = await listens(self._parts.sandbox, waited, port, seconds)
            return JobWait(facts=waited.facts(), met=met)
        await asyncio.wait([waited.over], timeout=max(0.0, seconds))
        return JobWait(facts=waited.facts(), met=waited.over.done())

    def tail(self, job: str, /, *, max_bytes: int = 16_384) -> str:
        """The end of what it printed, 64 KiB at most."""
        past = self._past.get(job)
        return self._job(job).log.tail(max_bytes) if past is None else end_of_log(past, max_bytes)

    async def kill(self, job: str, /, *, grace: float = 3.0) -> JobFacts:
        """End it and all it started; harmless when it has ended."""
        past = self._past.get(job)
        if past is not None:
            return past
        killed = self._job(job)
        killed.terminate("user", grace)
        await asyncio.wait([killed.over])
        return killed.facts()

    async def close(self) -> None:
        """End them all with the session, without a grace period."""
        running = [job for job in self._jobs.values() if not job.over.done()]
        for job in running:
            job.terminate("session", 0.0)
        if running:
            await asyncio.wait([job.over for job in running])

    def _origin(self, command: CommandText, cwd: str, call_id: str) -> Origin:
        text = command if isinstance(command, str) else " ".join(command)
        return Origin(self._parts.ids.new("job"), text, cwd, call_id)

    async def _started(self, origin: Origin, begun: Command) -> Job:
        sandbox = self._parts.sandbox
        warden = await sandbox.warden()
        log = await self._log()
        started = begun._replace(environment=sandbox.environment(begun.environment))
        try:
            running = await commanding.start(
                warden,
                started,
                Limits(),
                lambda heard: Capture(log, sandbox.parts.scrubber, heard),
                tell=True,
            )
            pid = await _started_or_abandoned(running)
        except BaseException:
            _forget(log)
            raise
        job = Job(origin, self._parts.clock, log, running.capture, pid)
        job.follow(warden, running)
        return job

    async def _log(self) -> JobLog:
        log = JobLog(self._parts.folder, self._parts.log_bytes)
        await asyncio.to_thread(log.write)
        return log

    def _add(self, job: Job) -> JobFacts:
        self._jobs[job.origin.id] = job
        job.enter_into(self._parts.register)
        finished = [name for name, one in self._jobs.items() if one.over.done()]
        for name in finished[: max(0, len(finished) - MOST_FINISHED)]:
            self._past.add(self._jobs.pop(name).facts())
        return job.facts()

    def _running(self) -> int:
        return sum(not job.over.done() for job in self._jobs.values())

    def _job(self, name: str) -> Job:
        if name not in self._jobs:
            raise InvalidArguments(f"there is no job '{name}'", field="job")
        return self._jobs[name]


def _waited_for_past(past: JobFacts, port: int | None, pattern: str | None) -> JobWait:
    if pattern is not None:
        raise Unavailable(f"the job ended too long ago to search its log; read {past.log_path}")
    return JobWait(facts=past, met=port is None)


async def _started_or_abandoned(running: Running) -> int:
    try:
        return await running.started()
    except OSError:
        await running.finish()  # which gives its spawner back
        raise
    except BaseException:
        running.abandon()
        raise


def _unstarted(problem: SandboxUnavailable | OSError) -> OperationFailed | SandboxNotRunning:
    if isinstance(problem, SandboxUnavailable):
        return SandboxNotRunning(f"there is no sandbox to run it in: {problem}")
    if isinstance(problem, TimeoutError):
        return OperationFailed(f"the job did not start within {START_SECONDS:g} seconds")
    return OperationFailed(f"the job cannot be started: {problem.strerror or problem}")


def _forget(log: JobLog) -> None:
    """There is no job: nobody asks for its log."""
    log.close()
    if log.path is not None:
        with suppress(OSError):
            Path(log.path).unlink()
