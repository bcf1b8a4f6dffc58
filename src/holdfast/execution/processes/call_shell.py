"""`rt.shell` of one call: commands of its tool's policy, confined, bounded, reported.

A text is run by bash with pipefail; a sequence is a program with its arguments. That a command
fails is a report; that there is no sandbox, or no leave for its directory, is raised.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    JobFacts,
    KilledBy,
    PersistentReport,
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
from holdfast.execution.processes.register import Ending, Entered, LiveRegister, exit_of
from holdfast.execution.processes.reports import argv_of, reported
from holdfast.execution.processes.sandbox import Sandbox
from holdfast.execution.processes.shell_process import OPTIONS
from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.program_record import Program, Record, without_text

_APPEARED = "appeared while"
_PERSISTENT = ("bash", *OPTIONS)


class Audit(NamedTuple):
    """Who writes programs down, and what they need for that."""

    log: AuditLog
    unix_ns: Callable[[], int]
    most_shown: Callable[[str], int]
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


class CallShell:
    """Runs commands for one call."""

    def __init__(self, runtime: Runtime, processes: Processes, leaves: Leaves) -> None:
        self._runtime = runtime
        self._processes = processes
        self._leaves = leaves

    async def run(
        self,
        command: CommandText,
        /,
        *,
        cwd: str | None = None,
        environment: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        limits: CommandLimits = NO_LIMITS,
    ) -> CommandReport:
        """Run a command to its end."""
        self.admit(command)
        sandbox = self._processes.sandbox
        after = self.aftermath()
        argv = argv_of(command)
        record = self.record(without_text(command, argv), cwd, environment)
        try:
            warden = await sandbox.warden()
            place = self.directory(cwd)
            begun = Command(argv, place, sandbox.environment(environment), stdin, record)
            capture = sandbox.capture(f"{self._runtime.tool}-{self._runtime.call_id}")
            within = Limits(limits.wall, limits.idle, limits.grace)
            running = await start(warden, begun, within, capture)
            self._processes.register.watch(running, shown(command), self._runtime.call_id)
            report = await running.finish(self._runtime.abort)
            job = await self._adopted(report, command, place)
        except SandboxUnavailable as problem:
            record.over(None)
            after.lost()
            raise Unavailable(f"There is no sandbox to run it in: {problem}.") from None
        except BaseException:
            after.lost()
            raise
        bare = reported(report, command, sandbox.confinement)
        ended = msgspec.structs.replace(bare, job=job, cwd=place)
        told = after.told(ended, place, all_gone=self.all_gone() and report.killed_by != "lost")
        self.notice(told)
        return told

    async def converse(self, command: Sequence[str], listener: Listener) -> Piped:
        """Start a program that is spoken with while it runs; it goes on after the call.

        It begins in the workspace. OSError: it cannot be started; Unavailable: there is no sandbox.
        """
        self.admit(command)
        record = self.record(tuple(command))
        processes = self._processes
        try:
            warden = await processes.sandbox.warden()
            self.aftermath().lost()  # what it makes is looked for after the next command
            environment = processes.sandbox.environment()
            begun = Command(command, self.directory(None), environment, record=record)
            running = await processes.piped.start(warden, begun, listener)
        except SandboxUnavailable as problem:
            record.over(None)
            raise Unavailable(f"There is no sandbox to run it in: {problem}.") from None
        except BaseException:
            record.over(None)
            raise
        self._show(running, shown(command))
        return running

    def say(self, *words: str) -> None:
        """Have the answer to the call say something, whatever its tool makes of it."""
        self._processes.notices.add(self._runtime.call_id, words)

    def _show(self, running: Piped, text: str) -> None:
        """Let a person see it and end it."""
        if running.over:
            return
        register = self._processes.register
        now, call_id = self._processes.clock.now(), self._runtime.call_id
        number = register.enter(Entered("job", text, call_id, now, running.last, running.terminate))

        def leave(by: KilledBy | None, status: int | None) -> None:
            register.leave(number, Ending(None, by) if by else Ending(*exit_of(status)))

        running.when_over = leave

    def notice(self, report: CommandReport) -> None:
        """What was put aside is said with the answer, also by a tool that shows no report."""
        appeared = [one.reason for one in report.refusals if _APPEARED in one.reason]
        self._processes.notices.add(self._runtime.call_id, appeared)

    @property
    def jobs(self) -> "CallJobs":
        """Background jobs."""
        return CallJobs(self, self._processes, self._runtime)

    @property
    def persistent(self) -> "CallPersistent":
        """The session's one persistent shell."""
        return CallPersistent(self, self._processes.persistent, self._runtime)

    def aftermath(self) -> Aftermath:
        """To be asked when a command that starts now has ended."""
        of = self._processes
        return Aftermath(of.sandbox, of.watch, self._leaves, of.attempts)

    def record(
        self,
        argv: tuple[str, ...],
        cwd: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Record:
        """What the audit log says of a program of this call, once it is over."""
        runtime, audit = self._runtime, self._processes.audit
        program = Program(
            tool=runtime.tool,
            argv=argv,
            cwd=cwd or self._processes.sandbox.parts.workspace,
            env_keys=tuple(environment or ()),
            session=runtime.session.id,
            call=runtime.call_id,
            most_shown=audit.most_shown(runtime.tool),
        )
        return Record(program, audit.log, audit.unix_ns)

    def admit(self, command: CommandText) -> None:
        """Refuse what `requires.shell` does not admit, before anything is started."""
        refusal = self._leaves.run(command)
        if refusal is not None:
            raise denied(refusal)

    def all_gone(self) -> bool:
        """Whether no job, no persistent shell and no server goes on in the sandbox."""
        running = any(one.state == "running" for one in self._processes.jobs.all())
        running = running or self._processes.piped.any()
        return not running and self._processes.persistent.inspect().status == "closed"

    def directory(self, asked: str | None) -> str:
        """Where it begins: what was asked for if that is within reach, or the workspace."""
        sandbox = self._processes.sandbox
        parts = sandbox.parts
        if asked is None:
            visible = (*parts.policy.readable, *parts.policy.writable)
            inside = any(is_within(parts.workspace, root) for root in visible)
            return parts.workspace if inside else sandbox.temporary
        verdict = self._leaves.open("read", asked)
        if isinstance(verdict, Refusal):
            raise denied(verdict)
        return verdict.path

    async def _adopted(self, report: Report, command: CommandText, cwd: str) -> str | None:
        """What outlived its leader and holds its output goes on as a job."""
        if report.left is None:
            return None
        jobs, call_id = self._processes.jobs, self._runtime.call_id
        adopted = await jobs.adopt(report.left, shown(command), cwd, call_id=call_id)
        return None if adopted is None else adopted.id


class CallJobs:
    """The session's background jobs, as one call reaches them."""

    def __init__(self, shell: CallShell, processes: Processes, runtime: Runtime) -> None:
        self._shell = shell
        self._sandbox = processes.sandbox
        self._jobs = processes.jobs
        self._runtime = runtime
        everywhere = processes.all_jobs
        self.all = everywhere.all
        self.poll = everywhere.poll
        self.wait = everywhere.wait
        self.tail = everywhere.tail
        self.kill = everywhere.kill

    async def start(
        self,
        command: CommandText,
        /,
        *,
        cwd: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> JobFacts:
        """Start one, in a directory within the call's reach."""
        self._shell.admit(command)
        argv = without_text(command, argv_of(command))
        record = self._shell.record(argv, cwd, environment)
        try:
            await self._sandbox.warden()
        except SandboxUnavailable as problem:
            record.over(None)
            raise Unavailable(f"There is no sandbox to run it in: {problem}.") from None
        place = self._shell.directory(cwd)
        self._shell.aftermath().lost()  # what the job makes is looked for after the next command
        return await self._jobs.start(
            command,
            cwd=place,
            environment=environment,
            call_id=self._runtime.call_id,
            record=record,
        )


class CallPersistent:
    """The session's persistent shell, as one call reaches it."""

    def __init__(self, shell: CallShell, persistent: SessionShell, runtime: Runtime) -> None:
        self._shell = shell
        self._persistent = persistent
        self._runtime = runtime
        self.inspect = persistent.inspect
        self.wait = persistent.wait
        self.restart = persistent.restart
        self.close = persistent.close

    async def run(self, command: str, /, *, limits: CommandLimits = NO_LIMITS) -> PersistentReport:
        """Run a command after those that wait."""
        self._shell.admit(command)
        after = self._shell.aftermath()
        abort, call_id = self._runtime.abort, self._runtime.call_id
        record = self._shell.record(_PERSISTENT)
        try:
            ended = await self._persistent.run(
                command, limits=limits, abort=abort, call_id=call_id, record=record
            )
        except BaseException:
            after.lost()
            raise
        told = after.told(ended.report, ended.facts.cwd, all_gone=self._shell.all_gone())
        self._shell.notice(told)
        return msgspec.structs.replace(ended, report=told)


def shown(command: CommandText) -> str:
    """A command as a person reads it."""
    return command if isinstance(command, str) else " ".join(command)


def denied(refusal: Refusal) -> PolicyDenied:
    """The error that names what was refused and what would permit it."""
    extras = {"target": refusal.target, "requirement": refusal.requirement}
    return PolicyDenied(refusal.reason, extras=extras)
