"""`shell_history`: the newest commands of a session, in short."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.shell import KEPT_COMMANDS, ShellHistory, ShellReading
from holdfast.tools.managed.given import trimmed
from holdfast.tools.managed.shell.declared import reading


@builtin(**reading())
async def shell_history(
    shell: ShellReading,
    session_id: str | None = None,
    limit: Annotated[int, msgspec.Meta(ge=1)] = KEPT_COMMANDS,
) -> ShellHistory:
    """Reread recent shell commands with previews of what they printed. The newest 5 are kept."""
    return await shell.history(trimmed(session_id), limit)
