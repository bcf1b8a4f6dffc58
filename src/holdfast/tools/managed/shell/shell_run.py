"""`shell_run`: one writable shell command, once, after a person said yes."""

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.managed.shell import CommandResult, ShellKeeping
from holdfast.contract.runtime import Runtime
from holdfast.contract.told import Told
from holdfast.tools.managed.shell.declared import Shown, Timeout, running
from holdfast.tools.managed.shell.running import Wanted, run_once


@builtin(**running())
async def shell_run(
    rt: Runtime,
    command: str,
    shell: ShellKeeping,
    cwd: str | None = None,
    timeout_ms: Timeout = 15_000,
    max_output_chars: Shown = 12_000,
) -> Told[CommandResult]:
    """Run one shell command that may write in the workspace; a person confirms it."""
    if not command.strip():
        raise InvalidArguments("shell_run requires a non-empty command", field="command")
    wanted = Wanted(
        command=command,
        cwd=(cwd or "").strip() or None,
        seconds=timeout_ms / 1000,
        most_shown=max_output_chars,
    )
    return await run_once(rt, shell, wanted)
