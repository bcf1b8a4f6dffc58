"""Running one command for a tool, whatever the tool is called: what became of it, or an error.

The names of arguments and of result fields are the faces' business.
"""

from collections.abc import Iterator, Mapping
from signal import Signals

import msgspec
from anyio import to_thread

from holdfast.contract.commanding import CommandDone
from holdfast.contract.errors import (
    Cancelled,
    DirectoryNotFound,
    FileNotFound,
    InvalidArguments,
    SandboxNotRunning,
)
from holdfast.contract.json_value import JsonValue
from holdfast.contract.runtime import Runtime
from holdfast.contract.shell import CommandLimits, CommandReport, CommandText, denial_of
from holdfast.contract.tool import Limits, OutputBound
from holdfast.contract.tool_options import ToolOptions

ANY_COMMAND = [{"cmd": "*"}]
HERE = {"read": ["**"], "write": ["**"]}
"""What the processes of a command tool work in: the workspace."""
USES = ("shell.run", "fs.read", "fs.write")
"""What a command names: what it runs, and the files it is redirected to."""

NOT_STARTED = -1


def command_options(max_bytes: int) -> ToolOptions:
    """What is declared of every tool that runs a command; ``max_bytes`` of its output are shown."""
    shown = OutputBound(max_bytes=max_bytes, fields=("stdout", "stderr"))
    return ToolOptions(
        requires={"shell": ANY_COMMAND, "fs": HERE},
        uses={"command": USES},
        read_only=False,
        destructive=True,
        effects=("sandbox_execute",),
        acp_kind="execute",
        interrupt_behavior="cancel",
        limits=Limits(wall_seconds=None, output=shown),
    )


_MOST_REFUSALS = 5


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A command to run."""

    command: CommandText
    directory: str | None
    field: str
    """How the tool calls the argument that names the directory."""
    limits: CommandLimits
    environment: Mapping[str, str] = {}


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """How a command went that was neither refused nor lost."""

    report: CommandReport
    stdout: str
    stderr: str
    exit_code: int | None
    """None: it did not exit by itself; -1: it was never started."""
    signal: str | None
    warnings: tuple[str, ...]


async def run_command(rt: Runtime, job: Job) -> Done:
    """Run it to its end.

    PolicyDenied where the sandbox made it fail, SandboxNotRunning where that went away.
    """
    if job.directory is not None:
        await check_directory(rt, job.directory, job.field)
    report = await rt.shell.run(
        job.command, cwd=job.directory, environment=job.environment, limits=job.limits
    )
    return done(report)


def done(report: CommandReport) -> Done:
    """What became of a command that is over; the same errors."""
    printed: dict[str, JsonValue] = {
        "stdout": report.stdout.text(),
        "stderr": report.stderr.text(),
        "exit_code": report.exit_code,
    }
    if report.killed_by == "abort":
        raise Cancelled("The call was interrupted, and the command ended.", extras=printed)
    if report.killed_by == "lost":
        raise SandboxNotRunning("The sandbox went away while the command ran.", extras=printed)
    if report.killed_by is None and (denial := denial_of(report)) is not None:
        raise denial
    return _done(report)


def as_remembered(rt: Runtime, command: str, done: Done) -> CommandDone:
    """How it went, for the session to remember."""
    return CommandDone(
        call_id=rt.call_id,
        command=command,
        cwd=done.report.cwd,
        exit_code=done.exit_code,
        timed_out=done.report.killed_by == "timeout",
        duration_ms=round(done.report.seconds * 1000),
        stdout=done.stdout,
        stderr=done.stderr,
    )


async def check_directory(rt: Runtime, directory: str, field: str) -> None:
    """Refuse what is no directory within reach."""
    try:
        facts = await to_thread.run_sync(rt.fs.stat, directory)
    except FileNotFound:
        raise DirectoryNotFound(
            f"There is no directory {directory!r}. Leave {field} out to run in the workspace.",
            field=field,
        ) from None
    if facts.kind != "directory":
        raise InvalidArguments(
            f"{directory!r} is no directory.", field=field, expected="an existing directory"
        )


def _done(report: CommandReport) -> Done:
    stderr = report.stderr.text()
    exit_code = None if report.signal is not None else report.exit_code
    if report.unstarted is not None:
        exit_code, stderr = NOT_STARTED, f"It could not be started: {report.unstarted}"
    return Done(
        report=report,
        stdout=report.stdout.text(),
        stderr=stderr,
        exit_code=exit_code,
        signal=None if report.signal is None else signal_name(report.signal),
        warnings=tuple(_warnings(report)),
    )


def signal_name(number: int) -> str:
    """As people write it."""
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"


def _warnings(report: CommandReport) -> Iterator[str]:
    yield from report.warnings
    if report.killed_by == "user":
        yield "A person ended the command."
    if report.waiting_for is not None:
        yield (
            f"It was waiting for input ({report.waiting_for.strip()[-200:]!r}), and nobody answers:"
            " give it what it needs as arguments or in a file."
        )
    if report.job is not None:
        yield (
            f"What it started goes on in the background (job {report.job}) until the session ends."
        )
    for one in report.refusals[:_MOST_REFUSALS]:
        yield f"The sandbox refused {one.target!r}: {one.reason}"
