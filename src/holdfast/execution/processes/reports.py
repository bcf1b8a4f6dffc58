"""Commands and their reports, between the words of the contract and those of a process."""

import signal

from holdfast.contract.shell import CommandReport, CommandText, Confinement
from holdfast.execution.processes.command import Report
from holdfast.execution.shell_warnings import shell_warnings

_SIGNALLED = 128
_LIMITED = {
    _SIGNALLED + signal.SIGXCPU: "It was ended by SIGXCPU: a process used as much processor time"
    " as one may (the setting sandbox.cpu_seconds).",
    _SIGNALLED + signal.SIGXFSZ: "It was ended by SIGXFSZ: a process wrote as large a file"
    " as one may (the setting sandbox.file_bytes).",
}
"""Exit codes of what a limit of ours ended."""


def argv_of(command: CommandText) -> list[str]:
    """A text for bash, whose pipelines fail where any part does; or the words as they are."""
    if isinstance(command, str):
        return ["bash", "-o", "pipefail", "-c", command]
    return list(command)


def reported(report: Report, command: CommandText, confinement: Confinement) -> CommandReport:
    """A report in the words of the contract."""
    ended, captured = report.ended, report.captured
    status = None if ended is None else ended.exit
    number = -status if status is not None and status < 0 else None
    exit_code = status if number is None else _SIGNALLED + number
    if report.killed_by is not None:
        exit_code = None
    warnings: list[str] = []
    if isinstance(command, str) and exit_code is not None:
        out, err = captured.stdout.text(), captured.stderr.text()
        warnings = [one.text for one in shell_warnings(command, exit_code, out, err)]
    if exit_code in _LIMITED:
        warnings.append(_LIMITED[exit_code])
    return CommandReport(
        exit_code=exit_code,
        signal=number,
        killed_by=report.killed_by,
        unstarted=report.unstarted,
        stdout=captured.stdout,
        stderr=captured.stderr,
        order=captured.pieces,
        output_path=captured.path,
        dropped_bytes=captured.dropped,
        seconds=report.seconds,
        cpu_seconds=0.0 if ended is None else ended.user_seconds + ended.system_seconds,
        peak_memory_bytes=0 if ended is None else ended.peak_bytes,
        waiting_for=report.waiting_for,
        warnings=tuple(warnings),
        confinement=confinement,
    )
