"""`resources_list_staged_drafts`: copies of shared files, and how they stand."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.resources import Drafts, SharedFiles


@builtin(effects=("resource_read",), acp_kind="read", parallel_safe=True)
async def resources_list_staged_drafts(shared: SharedFiles) -> Drafts:
    """List the drafts staged here: ready to promote, in sync, or missing on a side."""
    return await shared.drafts()
