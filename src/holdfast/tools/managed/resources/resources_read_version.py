"""`resources_read_version`: what a version of a shared file holds."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.resources import SharedFiles, VersionContent
from holdfast.tools.managed.given import needed


@builtin(effects=("resource_read",), acp_kind="read", parallel_safe=True)
async def resources_read_version(shared: SharedFiles, version_id: str) -> VersionContent:
    """Reread one version of a shared file; what is no text comes as base64."""
    return await shared.version(needed("resources_read_version", "version_id", version_id))
