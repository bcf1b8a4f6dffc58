"""`environment_describe`: where a session works."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.setup import Environment, Setups


@builtin(effects=("session_read",), acp_kind="read", parallel_safe=True)
async def environment_describe(setups: Setups) -> Environment:
    """Tell where this session works: sandbox, mounts, fingerprints."""
    return await setups.environment()
