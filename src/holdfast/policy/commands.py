"""The seam between scopes and the shell: what one layer says to a command text."""

from collections.abc import Callable, Sequence

from holdfast.contract.gates import Access
from holdfast.contract.requirements import ShellRunRequirement
from holdfast.policy.shell import analysis
from holdfast.policy.shell.admission import ANY_PROGRAM, admits
from holdfast.policy.shell.values import ShellText

__all__ = ["ShellText", "admits_command", "analyse"]


def analyse(text: str) -> ShellText:
    """Take a command text apart. The grammar is loaded with the first one."""
    return analysis.analyse(text)


def admits_command(
    declared: Sequence[ShellRunRequirement],
    text: ShellText,
    may_touch: Callable[[Access, str], bool],
) -> bool:
    """Whether every command is declared and every file the shell itself opens may be touched.

    Where any program may run with any arguments, the kernel's policy bounds the files.
    """
    if any(entry.cmd == ANY_PROGRAM and entry.args is None for entry in declared):
        return True
    return admits(declared, text) and all(
        redirection.target is not None and may_touch(redirection.mode, redirection.target)
        for redirection in text.redirections
    )
