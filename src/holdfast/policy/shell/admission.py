"""Whether declared shell requirements cover a whole command text. Judges, and knows no grammar."""

from collections.abc import Sequence

from holdfast.contract.requirements import ShellRunRequirement
from holdfast.policy.shell.values import Command, ShellText

ANY_PROGRAM = "*"


def admits(requirements: Sequence[ShellRunRequirement], text: ShellText) -> bool:
    """Every simple command is covered on its own, and nothing about the text is in doubt.

    An entry for any program with any arguments admits any text: the kernel bounds it then.
    """
    if any(entry.cmd == ANY_PROGRAM and entry.args is None for entry in requirements):
        return True
    if text.doubts or text.background or text.assigns or not text.commands:
        return False
    return all(any(_covers(entry, command) for entry in requirements) for command in text.commands)


def _covers(entry: ShellRunRequirement, command: Command) -> bool:
    """Listed arguments cannot cover a pattern the shell still replaces by file names."""
    return entry.admits(command.argv) and (entry.args is None or not command.expands)
