"""How a session runs the commands that its tools are given: a port."""

from collections.abc import Mapping
from typing import Literal, Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.shell import CommandText

CommandPolicy = Literal["any", "read_only", "managed"]
"""Which commands a profile runs: any, those that are known to read, or the managed hand's ten.

The stricter stands behind.
"""


class CommandGround(msgspec.Struct, frozen=True, kw_only=True):
    """What a command begins with of which its call says nothing."""

    cwd: str | None = None
    """None: the workspace."""
    environment: Mapping[str, str] = {}
    """Beside the variables that every command has."""


class CommandDone(msgspec.Struct, frozen=True, kw_only=True):
    """How a command of a call went, as the session remembers it."""

    call_id: str
    command: str
    cwd: str
    exit_code: int | None = None
    timed_out: bool = False
    duration_ms: int = 0
    stdout: str = ""
    stderr: str = ""
    persistent: bool = False
    """It ran in the session's persistent shell."""


class Commanding(CallPort, Protocol):
    """What a session makes of a command before it runs."""

    def form(self, command: str, /) -> CommandText:
        """As a text for a shell, or as the words of one program that no shell reads.

        PolicyDenied for what the session does not run; policy has said so before.
        """
        ...

    async def ground(self) -> CommandGround:
        """Where a command runs whose call does not say it, and with which variables."""
        ...

    async def ran(self, done: CommandDone, /) -> None:
        """One has run."""
        ...
