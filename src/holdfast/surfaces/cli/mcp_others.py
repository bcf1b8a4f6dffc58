"""Servers that other programs keep in a project. They are not read; whoever looks for one is told.

The files are a stranger's: whatever is wrong with them is passed over.
"""

from pathlib import Path

from holdfast.app.environment import variables
from holdfast.app.locations import user_file
from holdfast.app.server_files import SERVERS_NAME, find_servers

_PLACES = (".mcp.json", "mcp.json", ".cursor/mcp.json", ".vscode/mcp.json")


def hint_at_others(workspace: str, name: str | None = None) -> str | None:
    """What to do with a server that such a file has, or with any; None: none has it."""
    for place in _PLACES:
        file = Path(workspace).absolute() / place
        found = find_servers(file).table.get("mcp")
        if isinstance(found, dict) and (name is None or name in found):
            which = "servers" if name is None else "it"
            return (
                f"{file} has {which}, and is a file of other programs that is not read: copy what"
                f" you want of it to {_own()}, or use holdfast mcp add"
            )
    return None


def _own() -> str:
    own = user_file(variables())
    return SERVERS_NAME if own is None else str(own.with_name(SERVERS_NAME))
