"""What kind of call an editor shows: by the tool's name where the protocol's table names it, else
by what the tool says of itself. Nothing else is decided by it."""

from collections.abc import Mapping
from types import MappingProxyType

from acp.schema import ToolKind

from holdfast.contract.tool import Tool

KINDS: Mapping[str, ToolKind] = MappingProxyType(
    {
        "read": "read",
        "write": "edit",
        "edit": "edit",
        "glob": "search",
        "grep": "search",
        "tool_search": "search",
        "bash": "execute",
        "web_search": "fetch",
        "web_fetch": "fetch",
        "skill": "think",
        "todo": "other",
        "task": "other",
        "question": "other",
        "plan_exit": "switch_mode",
    }
)
"""Of tools whose kind is settled, whatever their role in a run is."""


def kind_of(name: str, tool: Tool | None) -> ToolKind:
    """The kind of a call; ``tool``: None where there is none of that name."""
    return KINDS.get(name) or ("other" if tool is None else tool.acp_kind)
