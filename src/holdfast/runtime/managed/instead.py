"""What can be called instead of a shell command that only reads: nobody has to confirm that.

Which command asks for what is `policy.read_only`'s to know; here it becomes a step. Whether the
call may run is not known here: whoever is called judges that itself.
"""

from typing import NamedTuple

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.steps import Step
from holdfast.policy import read_only

SHELL_COMMANDS = frozenset({"shell_run", "shell_exec"})
"""Tools that run a command text, and ask before."""
_BASH = "It only reads and shows the same, and nobody has to confirm it."
_FIRST_CLASS = "It answers what the command asks, and nobody has to confirm it."


class Instead(NamedTuple):
    """What reads the same."""

    first_class: Step | None = None
    """read, glob or grep."""
    bash: Step | None = None


NOTHING_INSTEAD = Instead()


def instead_of(tool: str, arguments: JsonValue, cwd: str, workspace: str) -> Instead:
    """What can be called instead of a call of a tool, by its arguments or a preview of them.

    ``cwd``: the shell's own directory; one that is not absolute counts as the workspace.
    """
    if tool not in SHELL_COMMANDS or not isinstance(arguments, dict):
        return NOTHING_INSTEAD
    command = arguments.get("command")
    if not isinstance(command, str):
        return NOTHING_INSTEAD
    own = arguments.get("cwd")
    chosen = own.strip() if isinstance(own, str) and own.strip() else cwd
    directory = chosen if chosen.startswith("/") else workspace
    timeout: JsonObject = {"timeout_ms": arguments.get("timeout_ms")}
    found = read_only.alternatives(command, directory, timeout)
    preferred, bash = found.preferred, found.bash
    return Instead(
        first_class=None
        if preferred is None or preferred.tool == "bash"
        else Step(tool=preferred.tool, args=preferred.args, rationale=_FIRST_CLASS),
        bash=None if bash is None else Step(tool=bash.tool, args=bash.args, rationale=_BASH),
    )
