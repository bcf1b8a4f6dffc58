"""The processes of one call: started in its tool's sandbox, bounded, recorded, reported.

Whether a command may run is decided before: nothing is admitted here but the directory. That one
fails is a report; that there is no sandbox, or no leave for its directory, is raised.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import msgspec

from holdfast.contract.audit import AuditLog
from holdfast.contract.errors import PolicyDenied, Unavailable
from holdfast.contract.gates import Refusal
from holdfast.contract.paths import is_within
from holdfast.contract.ports import Clock
from holdfast.contract.programs import Listener
from holdfast.contract.runtime import Runtime
from holdfast.contract.shell import (
    NO_LIMITS,
    CommandLimits,
    CommandReport,
    CommandText,
    KilledBy,
)
from holdfast.execution.network.attempts import SessionAttempts
from holdfast.execution.processes.aftermath import Aftermath, Leaves
from holdfast.execution.processes.all_jobs import AllJobs
from holdfast.execution.processes.appearances import Watch
from holdfast.execution.processes.command import Command, Report, start
from holdfast.execution.processes.jobs import SessionJobs
from holdfast.execution.processes.limits import Limits
from holdfast.execution.processes.persistent import SessionShell
from holdfast.execution.processes.piped import Piped, PipedProcesses
from holdfast.execution.processes.program_places import located
from holdfast.execution.processes.register import Ending, Entered, LiveRegister, exit_of
from holdfast.execution.processes.reports import argv_of, reported
from holdfast.execution.processes.sandbox import Sandbox
from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.program_record import Program, Record, without_text

_APPEARED = "appeared while"


class Audit(NamedTuple):
    """Who writes programs down, and what they need for that."""

    log: AuditLog
    unix_ns: Callable[[], int]
    most_shown: Callable[[Runtime], int]
    """How many bytes an answer of a tool shows, by its name."""


class Notices:
    """What the answers to calls have to say, whatever their tools make of a report."""

    def __init__(self) -> None:
        self._by_call: dict[str, list[str]] = {}

    def add(self, call_id: str, words: Iterable[str]) -> None:
        """Say it with the answer to that call."""
        for one in words:
            self._by_call.setdefault(call_id, []).append(one)

    def take(self, call_id: str) -> tuple[str, ...]:
        """All that was to be said; then it is."""
        if not self._by_call:
            return ()
        return tuple(dict.fromkeys(self._by_call.pop(call_id, ())))


class Processes(NamedTuple):
    """What goes on in one sandbox of a session."""

    sandbox: Sandbox
    jobs: SessionJobs
    """Those of this sandbox."""
    all_jobs: AllJobs
    """Those of the whole session."""
    persistent: SessionShell
    register: LiveRegister
    attempts: SessionAttempts
    watch: Watch
    notices: Notices
    audit: Audit
    piped: PipedProcesses
    clock: Clock


class Asked(NamedTuple):
    """What a call wants to have run."""

    command: CommandText
    environment: Callable[[Sandbox], Mapping[str, str]]
    """What it begins with, once its sandbox is open."""
    env_keys: tuple[str, ...] = ()
    """The names of variables that it was given, for the audit log."""
    cwd: str | None = None
    stdin: bytes | None = None
    limits: CommandLimits = NO_LIMITS
    leaves_jobs: bool = True
    """Whether what outlives it goes on as a job; else it is ended."""
    declared: bool = False
    """Whether its first word is the path of a file, which is looked for where it really lies."""


class CallProcesses:
    """Starts processes for one call."""

    def __init__(self, runtime: Runtime, processes: Processes, leaves: Leaves) -> None:
        self.runtime = runtime
        self.of = processes
        self._leaves = leaves

    async def run(self, asked: Asked) -> CommandReport:
        """Run a command to its end."""
        sandbox = self.of.sandbox
        after = self.aftermath()
        record = self.record(asked)
        try:
            warden = await sandbox.warden()
            place = self.directory(asked.cwd)
            begun = self._begun(asked, place, record)
            capture = sandbox.capture(f"{self.runtime.tool}-{self.runtime.call_id}")
            wanted = asked.limits
            within = Limits(wanted.wall, wanted.idle, wanted.grace)
            running = await start(warden, begun, within, capture)
            self.of.register.watch(running, shown(asked.command), self.runtime.call_id)
            report = await running.finish(self.runtime.abort, leaves_some=asked.leaves_jobs)
            job = await self._adopted(report, asked.command, place)
        except SandboxUnavailable as problem:
            record.over(None)
            after.lost()
            raise no_sandbox(problem) from None
        except BaseException:
            after.lost()
            raise
        bare = reported(report, asked.command, sandbox.confinement)
        ended = msgspec.structs.replace(bare, job=job, cwd=place)
        told = after.told(
            ended,
            place,
            all_gone=self.all_gone() and report.killed_by != "lost",
            program=begun.argv[0] if asked.declared else None,
        )
        self.notice(told)
        return told

    async def converse(self, asked: Asked, listener: Listener) -> Piped:
        """Start a program that is spoken with while it runs; it goes on after the call.

        OSError: it cannot be started; Unavailable: there is no sandbox.
        """
        record = self.record(asked)
        try:
            warden = await self.of.sandbox.warden()
            self.aftermath().lost()  # what it makes is looked for after the next command
            begun = self._begun(asked, self.directory(asked.cwd), record)
            running = await self.of.piped.start(warden, begun, listener)
        except SandboxUnavailable as problem:
            record.over(None)
            raise no_sandbox(problem) from None
        except PolicyDenied:
            raise  # a refusal is no program
        except BaseException:
            record.over(None)
            raise
        self._show(running, shown(asked.command))
        return running

    def say(self, *words: str) -> None:
        """Have the answer to the call say something, whatever its tool makes of it."""
        self.of.notices.add(self.runtime.call_id, words)

    def notice(self, report: CommandReport) -> None:
        """What was put aside is said with the answer, also by a tool that shows no report."""
        self.say(*(one.reason for one in report.refusals if _APPEARED in one.reason))

    def aftermath(self) -> Aftermath:
        """To be asked when a command that starts now has ended."""
        of = self.of
        return Aftermath(of.sandbox, of.watch, self._leaves, of.attempts)

    def record(self, asked: Asked) -> Record:
        """What the audit log says of a program of this call, once it is over."""
        runtime, audit = self.runtime, self.of.audit
        program = Program(
            tool=runtime.tool,
            argv=without_text(asked.command, argv_of(asked.command)),
            cwd=asked.cwd or self.of.sandbox.parts.workspace,
            env_keys=asked.env_keys,
            session=runtime.session.id,
            call=runtime.call_id,
            most_shown=audit.most_shown(runtime),
        )
        return Record(program, audit.log, audit.unix_ns)

    def all_gone(self) -> bool:
        """Whether no job, no persistent shell and no server goes on in the sandbox."""
        running = any(one.state == "running" for one in self.of.jobs.all())
        running = running or self.of.piped.any()
        return not running and self.of.persistent.inspect().status == "closed"

    def directory(self, asked: str | None) -> str:
        """Where it begins: what was asked for if that is within reach, or the workspace."""
        sandbox = self.of.sandbox
        parts = sandbox.parts
        if asked is None:
            visible = (*parts.policy.readable, *parts.policy.writable)
            inside = any(is_within(parts.workspace, root) for root in visible)
            return parts.workspace if inside else sandbox.temporary
        verdict = self._leaves.open("read", asked)
        if isinstance(verdict, Refusal):
            raise denied(verdict)
        return verdict.path

    def _begun(self, asked: Asked, place: str, record: Record) -> Command:
        sandbox = self.of.sandbox
        argv = argv_of(asked.command)
        if asked.declared:
            argv[0] = located(argv[0], sandbox.parts.policy)
        return Command(argv, place, asked.environment(sandbox), asked.stdin, record)

    def _show(self, running: Piped, text: str) -> None:
        """Let a person see it and end it."""
        if running.over:
            return
        register = self.of.register
        now, call_id = self.of.clock.now(), self.runtime.call_id
        number = register.enter(Entered("job", text, call_id, now, running.last, running.terminate))

        def leave(by: KilledBy | None, status: int | None) -> None:
            register.leave(number, Ending(None, by) if by else Ending(*exit_of(status)))

        running.when_over = leave

    async def _adopted(self, report: Report, command: CommandText, cwd: str) -> str | None:
        """What outlived its leader and holds its output goes on as a job."""
        if report.left is None:
            return None
        jobs, call_id = self.of.jobs, self.runtime.call_id
        adopted = await jobs.adopt(report.left, shown(command), cwd, call_id=call_id)
        return None if adopted is None else adopted.id


def shown(command: CommandText) -> str:
    """A command as a person reads it."""
    return command if isinstance(command, str) else " ".join(command)


def denied(refusal: Refusal) -> PolicyDenied:
    """The error that names what was refused and what would permit it."""
    extras = {"target": refusal.target, "requirement": refusal.requirement}
    return PolicyDenied(refusal.reason, extras=extras)


def no_sandbox(problem: SandboxUnavailable) -> Unavailable:
    """The error of a call whose sandbox cannot be opened."""
    return Unavailable(f"There is no sandbox to run it in: {problem}.")
