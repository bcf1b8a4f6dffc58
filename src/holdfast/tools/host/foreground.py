"""A command of the host's shell tools: it may be quiet for so long, and its output is capped."""

import msgspec

from holdfast.contract.errors import SandboxIdleTimeout
from holdfast.contract.runtime import Runtime
from holdfast.contract.shell import CommandLimits, CommandText
from holdfast.contract.truncate import truncate_for_model
from holdfast.tools.commands import Done, Job, run_command


class Caps(msgspec.Struct, frozen=True):
    """How many characters of each stream are shown: the beginning and the end."""

    stdout: int
    stderr: int


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What of a command is shown."""

    done: Done
    stdout: str
    stderr: str
    warnings: tuple[str, ...]


async def run_foreground(
    rt: Runtime, command: CommandText, cwd: str | None, quiet: int | None, caps: Caps
) -> Shown:
    """Run it until it ends; SandboxIdleTimeout when it printed nothing for ``quiet`` seconds."""
    limits = CommandLimits(idle=quiet)
    done = await run_command(rt, Job(command=command, directory=cwd, field="cwd", limits=limits))
    stdout, stderr = _cut(done.stdout, caps.stdout), _cut(done.stderr, caps.stderr)
    if done.report.killed_by == "idle":
        raise SandboxIdleTimeout(
            f"The command printed nothing for {quiet} seconds and was ended. Give a longer timeout,"
            " or have it print how far it is.",
            extras={"stdout": stdout, "stderr": stderr, "cwd": done.report.cwd},
        )
    warnings = done.warnings
    path = done.report.output_path
    if path is not None and (stdout, stderr) != (done.stdout, done.stderr):
        warnings = (*warnings, f"All that it printed is in {path}.")
    return Shown(done=done, stdout=stdout, stderr=stderr, warnings=warnings)


def _cut(text: str, most: int) -> str:
    return truncate_for_model(text, most, hint=": print less, or search in it")
