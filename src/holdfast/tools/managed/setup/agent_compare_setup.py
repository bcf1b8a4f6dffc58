"""`agent_compare_setup`: two sessions' setups."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.setup import SetupComparison, Setups
from holdfast.tools.managed.given import trimmed


@builtin(effects=("session_read",), acp_kind="read", parallel_safe=True)
async def agent_compare_setup(setups: Setups, session_id: str | None = None) -> SetupComparison:
    """Compare this session's setup with another's: whether it is the same, and what differs."""
    return await setups.compared(trimmed(session_id))
