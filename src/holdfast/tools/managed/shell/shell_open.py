"""`shell_open`: the session's persistent shell, opened or found open."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.shell import Opened, ShellKeeping
from holdfast.contract.runtime import Runtime
from holdfast.tools.managed.shell import running
from holdfast.tools.managed.shell.declared import opening


@builtin(**opening())
async def shell_open(
    rt: Runtime,
    shell: ShellKeeping,
    cwd: str | None = None,
    restart: bool = False,  # noqa: FBT001, FBT002 - an argument of the tool
) -> Opened:
    """Open the persistent shell, or reuse the open one, which stays where it is.

    Args:
        restart: End the open one first.
    """
    return await running.opened(rt, shell, (cwd or "").strip() or None, anew=restart)
