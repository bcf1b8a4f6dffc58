"""`shell_restart`: a fresh process for the persistent shell."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.shell import Opened, ShellKeeping
from holdfast.contract.runtime import Runtime
from holdfast.tools.managed.shell import running
from holdfast.tools.managed.shell.declared import opening


@builtin(**opening())
async def shell_restart(rt: Runtime, shell: ShellKeeping, cwd: str | None = None) -> Opened:
    """Start a fresh persistent shell that keeps directory and variables; ends what runs."""
    return await running.opened(rt, shell, (cwd or "").strip() or None, anew=True)
