"""`permissions_check`: what would become of one call."""

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.json_value import JsonObject
from holdfast.contract.managed.permissions import PermissionAdvice, PermissionCheck


@builtin(read_only=True, effects=("session_read",), acp_kind="read")
async def permissions_check(
    tool_name: str, advice: PermissionAdvice, tool_args: JsonObject | None = None
) -> PermissionCheck:
    """Whether a tool is allowed, needs approval or waits for the outcome, and what to call first.
    It runs nothing. Example: {"tool_name": "shell_run", "tool_args": {"command": "cat a.md"}}

    Args:
        tool_args: The arguments you mean to call it with.
    """
    named = tool_name.strip()
    if not named:
        raise InvalidArguments(
            "permissions_check requires a non-empty tool_name", field="tool_name"
        )
    return await advice.check(named, tool_args)
