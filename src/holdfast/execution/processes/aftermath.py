"""What the sandbox kept a command from, put together when the command has ended.

Three ways of knowing: what the policy agrees with of the command's own words, what the proxy was
asked for and refused, and protected places that appeared meanwhile.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from holdfast.contract.gates import CommandGate, HostGate, PathGate, Refusal
from holdfast.contract.shell import CommandReport
from holdfast.execution.network.attempts import SessionAttempts
from holdfast.execution.processes.appearances import Watch
from holdfast.execution.processes.denials import MOST_NAMED, Confined, denials
from holdfast.execution.processes.sandbox import Sandbox


class Leaves(NamedTuple):
    """What a tool may open and reach."""

    open: PathGate
    reach: HostGate
    run: CommandGate
    all_below: Callable[[str], bool]
    """Whether everything below a physical directory may be read; False also when in doubt."""


class Aftermath:
    """Made before a command starts, asked when it has ended."""

    def __init__(
        self, sandbox: Sandbox, watch: Watch, leaves: Leaves, attempts: SessionAttempts
    ) -> None:
        self._sandbox = sandbox
        self._watch = watch
        self._leaves = leaves
        self._attempts = attempts
        self._asked_before = attempts.count
        watch.begin()

    def lost(self) -> None:
        """Nobody waits for the command any more: what it made is looked for later."""
        self._watch.end(all_gone=False)

    def told(
        self, report: CommandReport, cwd: str, *, all_gone: bool, program: str | None = None
    ) -> CommandReport:
        """The report, with what was refused; ``all_gone``: nothing of the sandbox goes on.

        ``program``: the path of a script, which it names when it says that something is wrong.
        """
        alone = self._watch.end(all_gone=all_gone)
        if report.confinement == "unconfined":
            return report
        appeared = self._watch.sweep(self._leaves.open)
        hosts = self._attempts.refused_since(self._asked_before)[:MOST_NAMED]
        warnings = [*report.warnings, *(one.reason for one in appeared)]
        if not alone:
            # All processes of a sandbox share one door: whose request it was is not known.
            warnings += [
                f"A command of this session asked for a host: {one.reason}" for one in hosts
            ]
            hosts = ()
        found = {one.target: one for one in (*self._paths(report, cwd, program), *hosts, *appeared)}
        return msgspec.structs.replace(
            report, refusals=tuple(found.values()), warnings=tuple(warnings)
        )

    def _paths(self, report: CommandReport, cwd: str, program: str | None) -> tuple[Refusal, ...]:
        if report.exit_code == 0:
            return ()
        sandbox = self._sandbox
        confined = Confined(
            sandbox.parts.policy,
            sandbox.temporary,
            cwd,
            self._leaves.open,
            self._leaves.reach,
            sandbox.appearances.shows,
        )
        said = report.unstarted or report.stderr.text()
        return denials(confined, said if program is None else said.replace(f"{program}: ", ""))
