"""`shell_run`: a command in the workspace, under the host's own name for it."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.commanding import Commanding
from holdfast.contract.runtime import Runtime
from holdfast.contract.told import Told
from holdfast.tools.commands import command_options
from holdfast.tools.host.foreground import Caps, run_foreground

CAPS = Caps(stdout=10_000, stderr=10_000)


class ShellRan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a command went."""

    stdout: str
    stderr: str
    exit_code: int | None
    killed_by: str | None = None


@builtin(**command_options(100_000))
async def shell_run(
    rt: Runtime,
    command: Annotated[str, msgspec.Meta(min_length=1)],
    commanding: Commanding,
    timeout: Annotated[int, msgspec.Meta(ge=1, le=86_400)] | None = None,  # noqa: ASYNC109 - the name is the contract's
) -> Told[ShellRan]:
    """Run a shell command in the workspace and wait for its end, however long that takes.

    Any exit code is an answer. Example: {"command": "git status --short", "timeout": 60}

    Args:
        command: The command, as bash reads it; a pipeline fails where any part of it does.
        timeout: End the command when it has printed nothing for so many seconds.
    """
    shown = await run_foreground(rt, commanding.form(command), None, timeout, CAPS)
    report = shown.done.report
    ran = ShellRan(
        stdout=shown.stdout.strip(),
        stderr=shown.stderr.strip(),
        exit_code=report.exit_code if report.unstarted is None else shown.done.exit_code,
        killed_by=report.killed_by,
    )
    return Told(result=ran, warnings=shown.warnings)
