"""How a session runs the commands that its tools are given: a port."""

from typing import Literal, Protocol

from holdfast.contract.call_port import CallPort
from holdfast.contract.shell import CommandText

CommandPolicy = Literal["any", "read_only", "managed"]
"""Which commands a profile runs: any, those that are known to read, or the managed hand's ten.

The stricter stands behind.
"""


class Commanding(CallPort, Protocol):
    """What a session makes of a command before it runs."""

    def form(self, command: str, /) -> CommandText:
        """As a text for a shell, or as the words of one program that no shell reads.

        PolicyDenied for what the session does not run; policy has said so before.
        """
        ...
