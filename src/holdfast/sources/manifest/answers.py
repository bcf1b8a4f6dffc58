"""What a manifest's program did, as the answer to its call.

A program that exits with nought has succeeded with what it printed; every other end is a failure
that says what to do next. What it was refused meanwhile is told in either case.
"""

import os
import re
from collections.abc import Iterator
from signal import Signals
from typing import NamedTuple

import msgspec

from holdfast.contract import kept_report
from holdfast.contract.envelope import Envelope
from holdfast.contract.errors import (
    Cancelled,
    PolicyDenied,
    SandboxNotRunning,
    Unavailable,
    UserDenied,
)
from holdfast.contract.json_value import JsonValue
from holdfast.contract.program_exit import ProgramExit, envelope_from
from holdfast.contract.requirements import NOTHING_REQUIRED, RequirementSet
from holdfast.contract.shell import CommandReport, denial_of, first_refusal
from holdfast.contract.told import Told
from holdfast.sources.manifest.advice import wider_entry
from holdfast.sources.manifest.entries import ManifestEntry

_ENDED = {
    "abort": (Cancelled, "The call was interrupted, and the program ended."),
    "user": (UserDenied, "A person ended the program. Do not call it again unless asked to."),
    "lost": (SandboxNotRunning, "The sandbox went away while the program ran. Call it again."),
}


_TMP = "/tmp"
_TMP_FILE = re.compile(r"(?<![^\s'\"`\u2018:,;(=])/tmp/[^\s'\"`\u2019:,;()]+")
"""At the beginning of a word: further inside it is another folder's."""
_MISSING = "No such file or directory"
_OWN_TMP = ("namespaces", "bubblewrap")
_LOOKED_AT = 32 * 1024
_MOST_LOOKED_FOR = 8
"""In one line."""


class Allowed(NamedTuple):
    """How long a call may take, and the folder of the manifest that says so or says nothing."""

    seconds: float
    folder: str
    requires: RequirementSet = NOTHING_REQUIRED
    """What it may reach, the default included."""


def answer_of(
    report: CommandReport, entry: ManifestEntry, allowed: Allowed
) -> Envelope | Told[object]:
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
        raise _with_advice(denial, first_refusal(report.refusals).requirement, entry, allowed)
    warnings = (
        *report.warnings,
        *_refused_meanwhile(report, entry, allowed),
        *_hidden_files(report, entry),
    )
    if report.exit_code == 0 and not report.stdout.complete:
        # Memory does not hold all of it, so that nobody can say whether it is JSON.
        text: object = {"text": printed["stdout"]}
        return Told(result=text, warnings=warnings, output=kept_report.kept_output(report))
    answer = envelope_from(_exit(report))
    if report.killed_by is not None and answer.failure is not None:
        hint: dict[str, JsonValue] = {"hint": _longer(entry, allowed)}
        failure = msgspec.structs.replace(answer.failure, extras=answer.failure.extras | hint)
        answer = msgspec.structs.replace(answer, failure=failure)
    return msgspec.structs.replace(answer, warnings=warnings) if warnings else answer


def _with_advice(
    denial: PolicyDenied, wanted: str | None, entry: ManifestEntry, allowed: Allowed
) -> PolicyDenied:
    """The same, with what to write into the entry where that can be told."""
    advised = wider_entry(wanted, allowed.requires, names_reads=entry.names_reads)
    if advised is None:
        return denial
    hint = f"In the entry {entry.name} of the manifest in {allowed.folder}: {advised}"
    return PolicyDenied(str(denial), extras={**denial.extras, "hint": hint})


def _refused_meanwhile(
    report: CommandReport, entry: ManifestEntry, allowed: Allowed
) -> Iterator[str]:
    """What a program was kept from that went on all the same: it may not have noticed."""
    for one in report.refusals:
        if one.basis == "said" or one.reason in report.warnings:
            continue
        told = f"The program was refused {one.target} meanwhile: {one.reason}"
        if one.requirement is not None:
            told += f" {one.requirement} would admit it."
        advised = wider_entry(one.requirement, allowed.requires, names_reads=entry.names_reads)
        yield told if advised is None else f"{told} In the manifest: {advised}"


def _hidden_files(report: CommandReport, entry: ManifestEntry) -> Iterator[str]:
    """What to say where a program did not find a file that the machine has in that place."""
    asked_for = (
        () if entry.requires is None else (*entry.requires.fs.read, *entry.requires.fs.write)
    )
    if report.confinement not in _OWN_TMP or report.exit_code == 0:
        return
    for line in report.stderr.text()[-_LOOKED_AT:].splitlines():
        said = _TMP_FILE.findall(line)[:_MOST_LOOKED_FOR] if _MISSING in line else ()
        found = next(filter(os.path.lexists, said), None)
        if found is not None and not any(one.startswith(_TMP) for one in asked_for):
            yield (
                f"The program has a {_TMP} of its own, in which no file of the machine is: it sees"
                f" {found} once requires.fs.read names that; or put the file into the workspace."
            )
            return


def _longer(entry: ManifestEntry, allowed: Allowed) -> str:
    """What the limit was, and where it is raised."""
    where = f"timeoutSec of {entry.name} in the manifest in {allowed.folder}"
    if entry.timeout_seconds is None:
        where += ", or --tool-timeout, or seconds of its table in the configuration,"
    return f"It may take {allowed.seconds:g} s; {where} allows more."


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
