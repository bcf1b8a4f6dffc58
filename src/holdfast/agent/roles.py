"""What a call of a tool may do to what was seen before: read it again, change it, or leave it.

Where a tool itself is known its declarations decide; a name alone says something for the tools of
the contract and the built-in ones. Whatever says nothing of itself may have changed everything.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from holdfast.contract.tool import Effect, Tool

Role = Literal["read", "search", "load", "plan", "write", "execute", "still", "unknown"]
"""``load``: brings tools or instructions. ``still``: changes no file. ``unknown``: counts as
``execute``."""

READ_LIKE: frozenset[Role] = frozenset({"read", "search"})
"""Their answers may be given again."""

CHANGES_NOTHING: frozenset[Role] = frozenset({"read", "search", "load", "plan", "still"})
"""What was read before is as it was, whatever they answer."""

PATH_ARGUMENTS = ("path", "file_path")
"""Under which names a tool takes the one path it works on."""

_BY_ROLE: dict[Role, tuple[str, ...]] = {
    "read": ("read", "file_read", "sandbox_read_file", "read_workspace_file", "view_image"),
    "search": (
        *("glob", "grep", "file_search", "sandbox_search_files", "repo_overview"),
        *("list_workspace_files", "workspace_path_exists"),
    ),
    "load": ("skill", "tool_search", "capabilities_load"),
    "plan": ("todo", "plan"),
    "write": (
        *("write", "edit", "apply_patch", "file_write", "file_edit"),
        *("sandbox_write_file", "sandbox_edit_file", "write_workspace_file"),
    ),
    "execute": (
        *("bash", "shell_run", "sandbox_exec", "sandbox_process", "run_shell_command"),
        *("run_code", "repo_clone", "task"),
    ),
    "still": (
        *("web_search", "web_fetch", "lsp", "question", "clarify", "complete"),
        *("plan_exit", "share_artifact", "render_chart"),
    ),
}
NAMED: Mapping[str, Role] = {name: role for role, names in _BY_ROLE.items() for name in names}
"""What is known of a tool by its name alone."""

_NO_FILES: frozenset[Effect] = frozenset(
    {"session_read", "session_write", "memory_read", "memory_write", "learning_read", "skill_read"}
)
_CHANGES = frozenset({"edit", "delete", "move"})
_NOT_AS_DECLARED: Mapping[str, Role] = {"task": "execute", "tool_search": "load"}
"""Locked names, which no other tool bears: a subagent writes files with tools of its own, and what
`tool_search` writes down in its session is what it found."""


def role_of(tool: Tool) -> Role:
    """By what is declared of the tool."""
    if tool.ownership != "managed":
        return "unknown"
    if tool.name in _NOT_AS_DECLARED:
        return _NOT_AS_DECLARED[tool.name]
    return _reader(tool) if tool.read_only and not tool.destructive else _changer(tool)


def _changer(tool: Tool) -> Role:
    effects = frozenset(tool.effects)
    if "sandbox_execute" in effects or not effects:
        return "execute"
    if tool.acp_kind in _CHANGES:
        return "write"
    if not effects <= _NO_FILES | {"resource_read"}:
        return "execute"
    return "plan" if tool.acp_kind == "think" else "still"


def _reader(tool: Tool) -> Role:
    if "skill_read" in tool.effects:
        return "load"
    reads = any(use.capability == "fs.read" for use in tool.uses)
    if "sandbox_execute" in tool.effects or not reads:
        # That it only reads may be the default and not somebody's word.
        return "still" if tool.effects or tool.is_pure else "unknown"
    if tool.acp_kind == "search":
        return "search"
    return "read" if tool.acp_kind == "read" else "still"


def roles_of(tools: Iterable[Tool]) -> dict[str, Role]:
    """The roles of a catalog, by name."""
    return {tool.name: role_of(tool) for tool in tools}
