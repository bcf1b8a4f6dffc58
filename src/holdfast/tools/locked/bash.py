"""`bash`: one shell command per call, in the sandbox of the session."""

from typing import Annotated

import msgspec

from holdfast.contract import kept_report
from holdfast.contract.builtin import builtin
from holdfast.contract.commanding import Commanding
from holdfast.contract.runtime import Progress, Runtime
from holdfast.contract.shell import CommandLimits
from holdfast.contract.told import Told
from holdfast.tools.commands import Job, as_remembered, command_options, run_command

OUTPUT_BYTES = 200 * 1024
"""Of stdout and stderr together; the rest is read from the file that the answer names."""


class Ran(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the command went."""

    stdout: str
    stderr: str
    exit_code: int | None
    timed_out: bool
    truncated: bool
    signal: str | None = None


@builtin(**command_options(OUTPUT_BYTES))
async def bash(
    rt: Runtime,
    command: Annotated[str, msgspec.Meta(min_length=1)],
    commanding: Commanding,
    workdir: str | None = None,
    timeout_ms: Annotated[int, msgspec.Meta(ge=1)] = 120_000,
    description: str | None = None,
) -> Told[Ran]:
    """Run one command and give its output, whatever its exit code is.

    Each call is a shell of its own: neither the directory nor variables survive it. Input is
    closed. Long output is cut, and the answer says which file holds the whole. Example:
    {"command": "git log --oneline -5", "workdir": "src", "timeout_ms": 30000}

    Args:
        command: The command, as bash reads it; a pipeline fails where any part of it does.
        workdir: The directory to run in, inside the workspace; the workspace itself without it.
        timeout_ms: After so many milliseconds the command is ended.
        description: What the command is for, in a few words, for the person who looks on.
    """
    if description:
        rt.progress(Progress(message=description))
    ground = await commanding.ground()
    done = await run_command(
        rt,
        Job(
            command=commanding.form(command),
            directory=workdir or ground.cwd,
            field="workdir",
            limits=CommandLimits(wall=timeout_ms / 1000),
            environment=ground.environment,
        ),
    )
    ran = Ran(
        stdout=done.stdout,
        stderr=done.stderr,
        exit_code=done.exit_code,
        signal=done.signal,
        timed_out=done.report.killed_by == "timeout",
        truncated=False,
    )
    await commanding.ran(as_remembered(rt, command, done))
    return Told(result=ran, warnings=done.warnings, output=kept_report.kept_output(done.report))
