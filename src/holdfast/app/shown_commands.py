"""The commands of a session as somebody sees them who looks on: without known secrets."""

import msgspec

from holdfast.contract.shell import LiveCommand, LiveCommands
from holdfast.envelope.redact import Redactor


class ShownCommands:
    """Stands before the commands that run now."""

    def __init__(self, behind: LiveCommands, redactor: Redactor) -> None:
        self._behind = behind
        self._redactor = redactor

    def all(self) -> tuple[LiveCommand, ...]:
        """Every one of them, the oldest first."""
        return tuple(map(self._shown, self._behind.all()))

    def terminate(self, command: str, /) -> bool:
        """End one and all it started, by a person's wish; False when it is over or unknown."""
        return self._behind.terminate(command)

    def _shown(self, one: LiveCommand) -> LiveCommand:
        clean = self._redactor.text
        return msgspec.structs.replace(
            one,
            command=clean(one.command),
            stdout_tail=clean(one.stdout_tail),
            stderr_tail=clean(one.stderr_tail),
        )
