"""`shell_read_last_output`: what the last command printed, and what the running one has so far."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.shell import LastOutput, ShellReading
from holdfast.tools.managed.given import trimmed
from holdfast.tools.managed.shell.declared import reading


@builtin(**reading())
async def shell_read_last_output(shell: ShellReading, session_id: str | None = None) -> LastOutput:
    """Reread the last command's stdout and stderr, and what a running one printed so far."""
    return await shell.last_output(trimmed(session_id))
