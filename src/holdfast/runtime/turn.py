"""How many commands a turn may run. Where nobody says when a turn begins, there is no bound.

A turn is what an agent does between two words of its person; who begins one is not known here. What
its subagents do meanwhile is of the same turn.
"""

from holdfast.contract.builders import failure_of
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.tool import Tool

RUNS_COMMANDS = "shell.run"


def runs_commands(tool: Tool) -> bool:
    """Whether a call of the tool is a command that somebody gave it."""
    if tool.uses_of is not None and tool.requires.shell:
        return True  # which of its calls do is not known before one is looked at
    return any(use.capability == RUNS_COMMANDS for use in tool.uses)


class Turn:
    """Counts the commands of a turn."""

    def __init__(self, most: int | None = None, above: "Turn | None" = None) -> None:
        """``above``: the turn that this one is a part of; it counts the same calls."""
        self._most = most
        self._above = above
        self._left: int | None = None

    @property
    def begun(self) -> bool:
        """Whether anything is counted here."""
        return self._most is None or self._left is not None

    def begin(self) -> None:
        """Another turn: it may run as many commands as any."""
        self._left = self._most

    def counted(self, tool: Tool) -> Failure | None:
        """Count a call, whatever its arguments are; why it may not be made, if it may not."""
        if (self._left is None and self._above is None) or not runs_commands(tool):
            return None
        if self._left == 0:
            return failure_of(
                FailureKind.REJECTED,
                f"This turn has made its {self._most} calls that run commands. Say what you have"
                " so far, and go on in the next turn.",
            )
        if self._above is not None and (spent := self._above.counted(tool)) is not None:
            return spent
        if self._left is not None:
            self._left -= 1
        return None
