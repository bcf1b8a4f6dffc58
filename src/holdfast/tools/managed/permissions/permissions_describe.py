"""`permissions_describe`: what a session may do as it stands."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.permissions import PermissionAdvice, PermissionPosture


@builtin(read_only=True, effects=("session_read",), acp_kind="read")
async def permissions_describe(advice: PermissionAdvice) -> PermissionPosture:
    """What this session may do now: what waits for a person, which tools ask or are gated, the
    shell, the outcome's verdict, and what to call next."""
    return await advice.describe()
