"""`shell_read_command`: one command of `shell_history` with what it printed."""

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.managed.shell import CommandReread, ShellReading
from holdfast.tools.managed.given import trimmed
from holdfast.tools.managed.shell.declared import reading


@builtin(**reading())
async def shell_read_command(
    command_id: str, shell: ShellReading, session_id: str | None = None
) -> CommandReread:
    """Reread one command with its output, by its command_id from shell_history; null if unknown."""
    wanted = command_id.strip()
    if not wanted:
        raise InvalidArguments(
            "shell_read_command requires a non-empty command_id", field="command_id"
        )
    return await shell.command(wanted, trimmed(session_id))
