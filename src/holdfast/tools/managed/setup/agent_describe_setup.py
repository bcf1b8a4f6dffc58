"""`agent_describe_setup`: what a session is set up as."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.setup import DescribedSetup, Setups
from holdfast.tools.managed.given import trimmed


@builtin(effects=("session_read",), acp_kind="read", parallel_safe=True)
async def agent_describe_setup(setups: Setups, session_id: str | None = None) -> DescribedSetup:
    """Tell a session's setup: model, prompt, tools, skills, environment, mounts, permissions."""
    return await setups.described(trimmed(session_id))
