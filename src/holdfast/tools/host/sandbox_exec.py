"""`sandbox_exec`: a command in the sandbox, waited for or left running."""

from typing import Annotated, Literal

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.commanding import Commanding
from holdfast.contract.errors import OperationFailed
from holdfast.contract.runtime import Runtime
from holdfast.contract.shell import CommandText
from holdfast.contract.told import Told
from holdfast.tools.commands import check_directory, command_options
from holdfast.tools.host.foreground import Caps, run_foreground

CAPS = Caps(stdout=50_000, stderr=10_000)
OUTPUT_BYTES = 300_000
"""More than the caps leave, as long as it is text."""


class Executed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a command went."""

    stdout: str
    stderr: str
    exit_code: int | None
    cwd: str
    killed_by: str | None = None


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """A process that goes on; `sandbox_process` knows it by its pid."""

    pid: str
    log_file: str
    cwd: str
    background: Literal[True] = True


@builtin(**command_options(OUTPUT_BYTES))
async def sandbox_exec(
    rt: Runtime,
    command: Annotated[str, msgspec.Meta(min_length=1)],
    commanding: Commanding,
    cwd: str | None = None,
    timeout: Annotated[int, msgspec.Meta(ge=1, le=86_400)] | None = None,  # noqa: ASYNC109 - the name is the contract's
    background: bool = False,  # noqa: FBT001, FBT002 - an argument of the tool
) -> Told[Executed | Started]:
    """Run a shell command in the sandbox and wait for its end, however long that takes.

    Any exit code is an answer. Example: {"command": "npm test", "cwd": "web", "timeout": 120}

    Args:
        command: The command, as bash reads it; a pipeline fails where any part of it does.
        cwd: The directory to run in, inside the workspace; the workspace itself without it.
        timeout: End the command when it has printed nothing for so many seconds.
        background: Start it, do not wait, and answer with its pid and its log file.
    """
    form = commanding.form(command)
    if background:
        return Told(result=await _started(rt, form, cwd or None))
    shown = await run_foreground(rt, form, cwd or None, timeout, CAPS)
    report = shown.done.report
    executed = Executed(
        stdout=shown.stdout,
        stderr=shown.stderr,
        exit_code=report.exit_code if report.unstarted is None else shown.done.exit_code,
        cwd=report.cwd,
        killed_by=report.killed_by,
    )
    return Told(result=executed, warnings=shown.warnings)


async def _started(rt: Runtime, command: CommandText, cwd: str | None) -> Started:
    if cwd is not None:
        await check_directory(rt, cwd, "cwd")
    job = await rt.shell.jobs.start(command, cwd=cwd)
    if job.pid is None or job.log_path is None:
        raise OperationFailed("The process was started, and it has no number to manage it by.")
    return Started(pid=str(job.pid), log_file=job.log_path, cwd=job.cwd)
