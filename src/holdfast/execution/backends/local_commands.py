"""Commands and code of a local sandbox: run confined, waited for, told as results.

Nothing that a command started outlives it. Confinement itself is not known here.
"""

import math
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from holdfast.contract.audit import AuditLog
from holdfast.contract.backend import (
    BackendToolCodeRun,
    BackendToolCommandRun,
    CodeResult,
    CommandResult,
    ToolExecutionFailure,
    ToolResult,
)
from holdfast.contract.shell import Printed
from holdfast.execution.backends.shown_output import with_gap
from holdfast.execution.processes.background import BACKGROUND
from holdfast.execution.processes.command import Command, Limits, Report, run
from holdfast.execution.processes.confinement import Scratch
from holdfast.execution.processes.sandbox import Sandbox
from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.program_record import Program, Record, without_text

_SHELL = "/bin/sh"
_LANGUAGE = "python"


class Unrunnable(ValueError):
    """A payload that no process can be started from."""


class _Wanted(NamedTuple):
    """What is to run, as a process understands it."""

    argv: list[str]
    cwd: str
    timeout: float | None
    recorded: tuple[str, ...]
    """What of the words the audit log shows."""
    env: Mapping[str, str] = {}
    stdin: bytes | None = None
    script: str | None = None
    """A file in its temporary directory, given to the program as the last argument."""


class LocalAudit(NamedTuple):
    """Where programs are written down, on whose behalf, and what all of them are passed."""

    log: AuditLog
    tool: str
    env_keys: tuple[str, ...]


class LocalCommands:
    """Runs the processes of one local sandbox."""

    def __init__(
        self, sandbox: Sandbox, scratch: Scratch, working_dir: str, audit: LocalAudit
    ) -> None:
        self._audit = audit
        self._sandbox = sandbox
        self._scratch = scratch
        self._working_dir = working_dir
        self._closed = False

    def close(self) -> None:
        """End all that runs; returns when nothing is left."""
        self._closed = True
        wait = BACKGROUND.wait_for(self._sandbox.cut)
        wait()

    def command(self, payload: BackendToolCommandRun, cwd: str) -> ToolResult:
        """Run a command in a directory."""
        argv = [_SHELL, "-c", payload.cmd] if isinstance(payload.cmd, str) else list(payload.cmd)
        shown = without_text(payload.cmd, argv)
        wanted = _Wanted(argv, cwd, payload.timeout, shown, payload.env or {}, payload.stdin)
        report = self._run(wanted)
        if isinstance(report, ToolExecutionFailure):
            return report
        return CommandResult(
            _exit_code(report),
            _shown(report.captured.stdout),
            _shown(report.captured.stderr),
            report.seconds * 1000,
        )

    def code(self, payload: BackendToolCodeRun) -> ToolResult:
        """Run a script. Only in Python: there is one wherever this runs."""
        if payload.language != _LANGUAGE:
            return ToolExecutionFailure(
                "unsupported_tool",
                f"a local sandbox runs {_LANGUAGE} only, not {payload.language}",
                payload.language,
            )
        file, path = tempfile.mkstemp(".py", "code-", self._scratch.temporary)
        script = Path(path)
        try:
            with os.fdopen(file, "wb") as out:
                out.write(payload.code.encode())
            python = sys.executable
            wanted = _Wanted([python], self._working_dir, payload.timeout, (python,))
            report = self._run(wanted._replace(script=script.name))
        finally:
            script.unlink(missing_ok=True)
        if isinstance(report, ToolExecutionFailure):
            return report
        stdout, stderr = (
            _shown(stream).decode("utf-8", "replace")
            for stream in (report.captured.stdout, report.captured.stderr)
        )
        return CodeResult(None, stdout, stderr, stderr if _exit_code(report) else None)

    def _run(self, wanted: _Wanted) -> Report | ToolExecutionFailure:
        """Run to the end; a failure when there is no end to report."""
        limits = Limits(wall=_seconds(wanted.timeout))
        _check(wanted)
        record = self._record(wanted)
        try:
            report = BACKGROUND.wait_for(lambda: self._ran(wanted, limits, record))
        except SandboxUnavailable as problem:
            record.over(None)
            return self._lost(str(problem))
        if report.killed_by == "timeout":
            return ToolExecutionFailure("timeout", f"it took longer than {wanted.timeout} s")
        if report.unstarted is not None:
            return ToolExecutionFailure(
                "os_error", f"{wanted.argv[0]} cannot be started: {report.unstarted}", wanted.cwd
            )
        if report.ended is None:
            return self._lost("it went away under the command")
        return report

    def _record(self, wanted: _Wanted) -> Record:
        audit = self._audit
        keys = tuple(dict.fromkeys((*audit.env_keys, *wanted.env)))
        return Record(Program(audit.tool, wanted.recorded, wanted.cwd, keys), audit.log)

    async def _ran(self, wanted: _Wanted, limits: Limits, record: Record) -> Report:
        warden = await self._sandbox.warden()
        environment = self._sandbox.environment(wanted.env)
        script = [f"{self._sandbox.temporary}/{wanted.script}"] if wanted.script else []
        argv = [*wanted.argv, *script]
        command = Command(argv, wanted.cwd, environment, wanted.stdin, record)
        report = await run(warden, command, limits, self._sandbox.capture("output"))
        if report.left is not None:
            await warden.give_back(report.left.spawner)
            report.left.capture.close()
        return report

    def _lost(self, why: str) -> ToolExecutionFailure:
        if self._closed:
            return ToolExecutionFailure("sandbox_closed", "the sandbox was closed meanwhile")
        return ToolExecutionFailure("sandbox_closed", f"the sandbox cannot be used: {why}")


def _exit_code(report: Report) -> int:
    return report.ended.exit if report.ended is not None else -1


def _shown(printed: Printed) -> bytes:
    return with_gap(printed.head, printed.tail, printed.total)


def _seconds(timeout: float | None) -> float | None:
    if timeout is None or timeout == math.inf:
        return None
    if not timeout >= 0:
        raise Unrunnable(f"a timeout is a number of seconds, not {timeout}")
    return timeout


def _check(wanted: _Wanted) -> None:
    """Refuse what the system call would not even take."""
    if not wanted.argv:
        raise Unrunnable("cmd names no program")
    for name in wanted.env:
        if not name or "=" in name:
            raise Unrunnable(f"{name!r} is no name of a variable")
    texts = (*wanted.argv, wanted.cwd, *wanted.env, *wanted.env.values())
    if any("\0" in text for text in texts):
        raise Unrunnable("a command cannot hold a NUL character")
    for text in texts:
        os.fsencode(text)
