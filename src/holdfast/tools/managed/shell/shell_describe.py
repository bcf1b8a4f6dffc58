"""`shell_describe`: how a session's shell stands, and what to do about it."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.shell import ShellDescribed, ShellReading
from holdfast.tools.managed.given import trimmed
from holdfast.tools.managed.shell.declared import reading


@builtin(**reading())
async def shell_describe(shell: ShellReading, session_id: str | None = None) -> ShellDescribed:
    """Show the shell: directory, variables, recent commands, limits, what to read first."""
    return await shell.described(trimmed(session_id))
