"""`shell_wait`: wait a little for the command that runs in the persistent shell."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.shell import ShellReading, Waited
from holdfast.tools.managed.shell.declared import Timeout, reading


@builtin(**reading())
async def shell_wait(shell: ShellReading, timeout_ms: Timeout = 1000) -> Waited:
    """Wait for the command in the persistent shell; status idle, running, completed or error."""
    return await shell.wait(timeout_ms / 1000)
