"""`rt.shell` of one call: commands of its tool's policy, confined, bounded, reported.

A text is run by bash with pipefail; a sequence is a program with its arguments. That a command
fails is a report; that there is no sandbox, or no leave for its directory, is raised.
"""

from collections.abc import Mapping
from typing import NamedTuple, NoReturn

import msgspec

from holdfast.contract.errors import PolicyDenied, Unavailable
from holdfast.contract.gates import HostGate, PathGate, Refusal
from holdfast.contract.paths import is_within
from holdfast.contract.runtime import Runtime
from holdfast.contract.shell import (
    NO_LIMITS,
    CommandLimits,
    CommandReport,
    CommandText,
)
from holdfast.execution.network.attempts import SessionAttempts
from holdfast.execution.processes.appearances import put_aside
from holdfast.execution.processes.command import Command, Limits, run
from holdfast.execution.processes.denials import Confined, denials
from holdfast.execution.processes.reports import argv_of, reported
from holdfast.execution.processes.sandbox import Sandbox
from holdfast.execution.processes.spawners import SandboxUnavailable


class Leaves(NamedTuple):
    """What a tool may open and reach."""

    open: PathGate
    reach: HostGate


class CallShell:
    """Runs commands for one call."""

    def __init__(
        self, runtime: Runtime, sandbox: Sandbox, leaves: Leaves, attempts: SessionAttempts
    ) -> None:
        self._runtime = runtime
        self._attempts = attempts
        self._sandbox = sandbox
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
        sandbox, asked_before = self._sandbox, self._attempts.count
        absent = sandbox.appearances.absent()
        try:
            warden = await sandbox.warden()
            place = self._directory(cwd)
            begun = Command(argv_of(command), place, sandbox.environment(environment), stdin)
            capture = sandbox.capture(f"{self._runtime.tool}-{self._runtime.call_id}")
            within = Limits(limits.wall, limits.idle, limits.grace)
            report = await run(warden, begun, within, capture, self._runtime.abort)
        except SandboxUnavailable as problem:
            raise Unavailable(f"There is no sandbox to run it in: {problem}.") from None
        told = reported(report, command, sandbox.confinement)
        if sandbox.confinement == "unconfined":
            return told
        hosts = self._attempts.refused_since(asked_before)
        appeared = tuple(put_aside(absent, self._leaves.open))
        return self._with_denials(told, place, hosts, appeared)

    @property
    def jobs(self) -> NoReturn:
        """Background jobs."""
        raise Unavailable("rt.shell.jobs: not yet")

    @property
    def persistent(self) -> NoReturn:
        """The persistent shell."""
        raise Unavailable("rt.shell.persistent: not yet")

    def _directory(self, asked: str | None) -> str:
        """Where it begins: what was asked for if that is within reach, or the workspace."""
        parts = self._sandbox.parts
        if asked is None:
            visible = (*parts.policy.readable, *parts.policy.writable)
            inside = any(is_within(parts.workspace, root) for root in visible)
            return parts.workspace if inside else self._sandbox.temporary
        verdict = self._leaves.open("read", asked)
        if isinstance(verdict, Refusal):
            raise denied(verdict)
        return verdict.path

    def _with_denials(
        self,
        report: CommandReport,
        cwd: str,
        hosts: tuple[Refusal, ...],
        appeared: tuple[Refusal, ...],
    ) -> CommandReport:
        """With what the sandbox refused: paths, hosts the proxy was asked for, what appeared."""
        sandbox, paths = self._sandbox, ()
        if report.exit_code != 0:
            confined = Confined(sandbox.parts.policy, sandbox.temporary, cwd, *self._leaves)
            paths = denials(confined, report.unstarted or report.stderr.text())
        found = {one.target: one for one in (*paths, *hosts, *appeared)}
        warnings = (*report.warnings, *(one.reason for one in appeared))
        return msgspec.structs.replace(report, refusals=tuple(found.values()), warnings=warnings)


def denied(refusal: Refusal) -> PolicyDenied:
    """The error that names what was refused and what would permit it."""
    told = {"target": refusal.target, "requirement": refusal.requirement}
    return PolicyDenied(refusal.reason, extras=told)
