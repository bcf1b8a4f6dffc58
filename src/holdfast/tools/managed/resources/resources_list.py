"""`resources_list`: the directories a session stands on."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.resources import Resources, SharedFiles


@builtin(effects=("resource_read",), acp_kind="read", parallel_safe=True)
async def resources_list(shared: SharedFiles) -> Resources:
    """List what is mounted: where, what for, and whether it can be written."""
    return shared.mounted()
