"""What a manifest's program did, as the answer to its call.

A program that exits with nought has succeeded with what it printed; every other end is a failure
that says what to do next.
"""

from signal import Signals

import msgspec

from holdfast.contract import kept_report
from holdfast.contract.envelope import Envelope
from holdfast.contract.errors import Cancelled, SandboxNotRunning, Unavailable, UserDenied
from holdfast.contract.json_value import JsonValue
from holdfast.contract.program_exit import ProgramExit, envelope_from
from holdfast.contract.shell import CommandReport, denial_of
from holdfast.contract.told import Told
from holdfast.sources.manifest.entries import ManifestEntry

_ENDED = {
    "abort": (Cancelled, "The call was interrupted, and the program ended."),
    "user": (UserDenied, "A person ended the program. Do not call it again unless asked to."),
    "lost": (SandboxNotRunning, "The sandbox went away while the program ran. Call it again."),
}


def answer_of(report: CommandReport, entry: ManifestEntry) -> Envelope | Told[object]:
    """The answer; what is no fault of the program is raised."""
    printed: dict[str, JsonValue] = {
        "stdout": report.stdout.text(),
        "stderr": report.stderr.text(),
    }
    if report.killed_by in _ENDED:
        error, words = _ENDED[report.killed_by]
        raise error(words, extras=printed)
    if report.unstarted is not None:
        raise _unstarted(report, entry)
    if report.killed_by is None and (denial := denial_of(report)) is not None:
        raise denial
    if report.exit_code == 0 and not report.stdout.complete:
        # Memory does not hold all of it, so that nobody can say whether it is JSON.
        text: object = {"text": printed["stdout"]}
        return Told(result=text, warnings=report.warnings, output=kept_report.kept_output(report))
    answer = envelope_from(_exit(report))
    return msgspec.structs.replace(answer, warnings=report.warnings) if report.warnings else answer


def _exit(report: CommandReport) -> ProgramExit:
    code = -1 if report.exit_code is None else report.exit_code
    return ProgramExit(
        stdout=report.stdout.text(),
        stderr=report.stderr.text(),
        exit_code=code,
        timed_out=report.killed_by is not None,
        ended_by=None if report.signal is None else f"ended by {_signal_name(report.signal)}",
    )


def _signal_name(number: int) -> str:
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"


def _unstarted(report: CommandReport, entry: ManifestEntry) -> Unavailable:
    program = entry.command[0]
    return Unavailable(
        f"The program of {entry.name} could not be started: {report.unstarted}. Check that it is"
        " there, that it can be executed, and that the interpreter in its first line is within"
        " what the entry requires (requires.fs.read).",
        extras={"program": program},
    )
