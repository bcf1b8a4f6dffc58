"""`rt.shell` of one call: commands of its tool's policy, confined, bounded, reported.

A text is run by bash with pipefail; a sequence is a program with its arguments. What may be run is
what the tool requires; how it is run is not known here.
"""

from collections.abc import Mapping, Sequence

import msgspec

from holdfast.contract.programs import Listener
from holdfast.contract.runtime import Runtime
from holdfast.contract.shell import (
    NO_CHANGE,
    NO_LIMITS,
    CommandLimits,
    CommandReport,
    CommandText,
    JobFacts,
    PersistentFacts,
    PersistentReport,
    ShellChange,
)
from holdfast.execution.processes.aftermath import Leaves
from holdfast.execution.processes.call_processes import (
    Asked,
    CallProcesses,
    Processes,
    denied,
    no_sandbox,
)
from holdfast.execution.processes.piped import Piped
from holdfast.execution.processes.sandbox import Sandbox
from holdfast.execution.processes.shell_process import OPTIONS
from holdfast.execution.processes.spawners import SandboxUnavailable

_PERSISTENT = ("bash", *OPTIONS)


class CallShell:
    """Runs commands for one call."""

    def __init__(self, runtime: Runtime, processes: Processes, leaves: Leaves) -> None:
        self._call = CallProcesses(runtime, processes, leaves)
        self._leaves = leaves
        self.say = self._call.say

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
        asked = _asked(command, cwd, environment)
        return await self._call.run(asked._replace(stdin=stdin, limits=limits))

    async def converse(self, command: Sequence[str], listener: Listener) -> Piped:
        """Start a program that is spoken with while it runs; it goes on after the call.

        It begins in the workspace. OSError: it cannot be started; Unavailable: there is no sandbox.
        """
        self.admit(command)
        return await self._call.converse(_asked(command), listener)

    @property
    def jobs(self) -> "CallJobs":
        """Background jobs."""
        return CallJobs(self, self._call)

    @property
    def persistent(self) -> "CallPersistent":
        """The session's one persistent shell."""
        return CallPersistent(self, self._call)

    def admit(self, command: CommandText) -> None:
        """Refuse what `requires.shell` does not admit, before anything is started."""
        refusal = self._leaves.run(command)
        if refusal is not None:
            raise denied(refusal)


class CallJobs:
    """The session's background jobs, as one call reaches them."""

    def __init__(self, shell: CallShell, call: CallProcesses) -> None:
        self._shell = shell
        self._call = call
        everywhere = call.of.all_jobs
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
        call = self._call
        record = call.record(_asked(command, cwd, environment))
        try:
            await call.of.sandbox.warden()
        except SandboxUnavailable as problem:
            record.over(None)
            raise no_sandbox(problem) from None
        place = call.directory(cwd)
        call.aftermath().lost()  # what the job makes is looked for after the next command
        return await call.of.jobs.start(
            command,
            cwd=place,
            environment=environment,
            call_id=call.runtime.call_id,
            record=record,
        )


class CallPersistent:
    """The session's persistent shell, as one call reaches it."""

    def __init__(self, shell: CallShell, call: CallProcesses) -> None:
        self._shell = shell
        self._call = call
        self._persistent = call.of.persistent
        self.inspect = self._persistent.inspect
        self.wait = self._persistent.wait
        self.restart = self._persistent.restart
        self.close = self._persistent.close
        self.variables = self._persistent.variables

    async def opened(self, begin: ShellChange = NO_CHANGE, /, *, anew: bool) -> PersistentFacts:
        """Have a shell whose process lives."""
        return await self._persistent.opened(self._within_reach(begin), anew=anew)

    def _within_reach(self, change: ShellChange) -> ShellChange:
        if change.cwd is None:
            return change
        return msgspec.structs.replace(change, cwd=self._call.directory(change.cwd))

    async def run(
        self, command: str, /, *, limits: CommandLimits = NO_LIMITS, before: ShellChange = NO_CHANGE
    ) -> PersistentReport:
        """Run a command after those that wait."""
        self._shell.admit(command)
        before = self._within_reach(before)
        call = self._call
        after = call.aftermath()
        abort, call_id = call.runtime.abort, call.runtime.call_id
        record = call.record(_asked(_PERSISTENT))
        try:
            ended = await self._persistent.run(
                command,
                limits=limits,
                abort=abort,
                call_id=call_id,
                record=record,
                before=before,
            )
        except BaseException:
            after.lost()
            raise
        told = after.told(ended.report, ended.facts.cwd, all_gone=call.all_gone())
        call.notice(told)
        return msgspec.structs.replace(ended, report=told)


def _asked(
    command: CommandText, cwd: str | None = None, own: Mapping[str, str] | None = None
) -> Asked:
    """A command that begins with what every command of its sandbox does, and its own variables."""

    def environment(sandbox: Sandbox) -> Mapping[str, str]:
        return sandbox.environment(own)

    return Asked(command, environment, tuple(own or ()), cwd)
