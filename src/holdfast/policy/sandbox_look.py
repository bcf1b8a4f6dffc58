"""Uses of tools that work in a sandbox of the program's own: it is the boundary, rules still speak.

What such a call reaches is for the sandbox to say, whose places are not this machine's. So nothing
that the tools require bounds it; ceilings and agents above do, as far as names of capabilities and
programs go. What kind of sandbox it is is not known here.
"""

from collections.abc import Callable
from typing import cast

from holdfast.contract.gates import Access
from holdfast.contract.rules import Use
from holdfast.contract.tool import Tool
from holdfast.policy import command_gate
from holdfast.policy.commands import admits_command
from holdfast.policy.powers import Looked
from holdfast.policy.reach import Reach
from holdfast.policy.scope import Scope
from holdfast.policy.uses import analysed
from holdfast.policy.words import described


class SandboxLook:
    """Looks at what these tools use; at what others use as always."""

    def __init__(self, reach: Reach, is_inside: Callable[[str], bool]) -> None:
        """``is_inside``: whether the tool of this name works in the sandbox alone."""
        self._reach = reach
        self._is_inside = is_inside

    def __call__(self, tool: Tool, use: Use) -> Looked:
        """Find the target as rules name it, and see whether anything above bounds it."""
        if use.capability is None or not self._is_inside(tool.name):
            return self._reach(tool, use)
        found = self._reach.named(use) if use.kind == "path" and use.target else use
        bounds = self._reach.scope(tool).layers[1:]
        if all(_admits(layer, use) for layer in bounds):
            return Looked(found)
        reason = f"{described(use)} is more than may be reached. {command_gate.BOUND_FROM_ABOVE}"
        return Looked(found, reason)


def _admits(layer: Scope, use: Use) -> bool:
    if use.kind == "command":
        text = analysed(use.target if use.within is None else use.within)
        return admits_command(layer.requirements.shell, text, _anywhere)
    return layer.declares(cast("str", use.capability))


def _anywhere(_access: Access, _path: str) -> bool:
    """Where a redirection leads is inside of the sandbox."""
    return True
