"""`vault_list`: what is mounted for people alone."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.setup import Setups, Vaults


@builtin(effects=("resource_read",), acp_kind="read", parallel_safe=True)
async def vault_list(setups: Setups) -> Vaults:
    """List the vaults. What is in them cannot be read."""
    return setups.vaults()
