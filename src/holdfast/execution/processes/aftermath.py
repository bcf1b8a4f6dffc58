"""What the sandbox kept a command from, put together when the command has ended.

Three ways of knowing: what the policy agrees with of the command's own words, what the proxy was
asked for and refused, and protected places that appeared meanwhile.
"""

from typing import NamedTuple

import msgspec

from holdfast.contract.gates import HostGate, PathGate, Refusal
from holdfast.contract.shell import CommandReport
from holdfast.execution.network.attempts import SessionAttempts
from holdfast.execution.processes.appearances import put_aside
from holdfast.execution.processes.denials import Confined, denials
from holdfast.execution.processes.sandbox import Sandbox


class Leaves(NamedTuple):
    """What a tool may open and reach."""

    open: PathGate
    reach: HostGate


class Aftermath:
    """Made before a command starts, asked when it has ended."""

    def __init__(self, sandbox: Sandbox, leaves: Leaves, attempts: SessionAttempts) -> None:
        self._sandbox = sandbox
        self._leaves = leaves
        self._attempts = attempts
        self._asked_before = attempts.count
        self._absent = sandbox.appearances.absent()

    def told(self, report: CommandReport, cwd: str) -> CommandReport:
        """The report, with what was refused."""
        if report.confinement == "unconfined":
            return report
        appeared = tuple(put_aside(self._absent, self._leaves.open))
        hosts = self._attempts.refused_since(self._asked_before)
        found = {one.target: one for one in (*self._paths(report, cwd), *hosts, *appeared)}
        warnings = (*report.warnings, *(one.reason for one in appeared))
        return msgspec.structs.replace(report, refusals=tuple(found.values()), warnings=warnings)

    def _paths(self, report: CommandReport, cwd: str) -> tuple[Refusal, ...]:
        if report.exit_code == 0:
            return ()
        sandbox = self._sandbox
        confined = Confined(sandbox.parts.policy, sandbox.temporary, cwd, *self._leaves)
        return denials(confined, report.unstarted or report.stderr.text())
