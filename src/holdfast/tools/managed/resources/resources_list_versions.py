"""`resources_list_versions`: the versions of a shared file."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.resources import SharedFiles, VersionHistory
from holdfast.tools.managed.given import needed


@builtin(effects=("resource_read",), acp_kind="read", parallel_safe=True)
async def resources_list_versions(
    shared: SharedFiles,
    target_path: str,
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 10,
) -> VersionHistory:
    """List the immutable versions of a shared substrate file, newest first."""
    return await shared.history(
        needed("resources_list_versions", "target_path", target_path), limit
    )
