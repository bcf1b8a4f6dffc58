"""By which names a person may call a tool of an MCP server: the one here, a rule's, or its whole.

A long name is cut before a model sees it; a person who knows the server writes it in full.
"""

from collections.abc import Iterable

from holdfast.app.servers import servers_with
from holdfast.contract.tool import Tool
from holdfast.sources.mcp.naming import MOST_CHARACTERS, alias_of, reduced
from holdfast.sources.mcp.states import ServerState

_KEPT = MOST_CHARACTERS - 8
"""So much of a name is there at least where it was cut."""


def may_be_of(tool: str, servers: Iterable[str]) -> tuple[str, ...]:
    """The servers that a tool may be of that somebody calls so."""
    names = list(servers)
    plainly = servers_with(tool, names)
    otherwise = (
        one for one in names if tool.startswith((reduced((one, ""))[:_KEPT], alias_of((one, ""))))
    )
    return tuple(dict.fromkeys((*plainly, *otherwise)))


def name_here(tool: str, tools: Iterable[Tool], servers: Iterable[ServerState]) -> str:
    """What a tool is called here that somebody calls so; the same where nothing else is meant."""
    if any(one.name == tool for one in tools):
        return tool
    meant = [
        known.id
        for server in servers
        for known in server.tools
        if tool in (alias_of(whole := (server.name, known.name)), reduced(whole))
    ]
    return meant[0] if len(meant) == 1 else tool
