"""`shell_exec`: a command in the persistent shell, after a person said yes."""

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.managed.shell import CommandResult, ShellKeeping
from holdfast.contract.runtime import Runtime
from holdfast.contract.told import Told
from holdfast.tools.managed.shell.declared import Shown, Timeout, running
from holdfast.tools.managed.shell.running import Wanted, run_persistent


@builtin(**running())
async def shell_exec(  # noqa: PLR0913 - the arguments of the tool
    rt: Runtime,
    command: str,
    shell: ShellKeeping,
    cwd: str | None = None,
    timeout_ms: Timeout = 15_000,
    max_output_chars: Shown = 12_000,
    restart: bool = False,  # noqa: FBT001, FBT002 - an argument of the tool
) -> Told[CommandResult]:
    """Run a command in the persistent shell, where `cd` and `export` go on; a person confirms."""
    if not command.strip():
        raise InvalidArguments("shell_exec requires a non-empty command", field="command")
    wanted = Wanted(
        command=command,
        cwd=(cwd or "").strip() or None,
        seconds=timeout_ms / 1000,
        most_shown=max_output_chars,
        anew=restart,
    )
    return await run_persistent(rt, shell, wanted)
