"""`shell_close`: end the persistent shell."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.shell import Closed, ShellKeeping
from holdfast.contract.runtime import Runtime
from holdfast.tools.managed.shell import running
from holdfast.tools.managed.shell.declared import opening


@builtin(**opening())
async def shell_close(rt: Runtime, shell: ShellKeeping) -> Closed:
    """Close the persistent shell and what runs in it; directory and variables are kept."""
    return await shell.closed(await running.closed(rt))
