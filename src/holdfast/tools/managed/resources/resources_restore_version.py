"""`resources_restore_version`: an older version of a shared file, shared again."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.resources import Restored, SharedFiles, Wanted
from holdfast.tools.managed.given import needed, trimmed

_NAME = "resources_restore_version"


@builtin(
    read_only=False,
    destructive=True,
    permission_policy="always_ask",
    effects=("resource_read", "resource_write"),
    acp_kind="edit",
    interrupt_behavior="block",
)
async def resources_restore_version(
    shared: SharedFiles,
    version_id: str,
    require_outcome_pass: bool | None = None,  # noqa: FBT001 - an argument of the tool
    expected_version_id: str | None = None,
    expected_content_hash: str | None = None,
) -> Restored:
    """Restore a version of a shared file, as a new version of it.

    Args:
        require_outcome_pass: Default: if there is an outcome.
        expected_version_id: What must be the newest one.
    """
    wanted = Wanted(
        tool=_NAME,
        require_outcome_pass=require_outcome_pass,
        expected_version_id=trimmed(expected_version_id),
        expected_content_hash=trimmed(expected_content_hash),
    )
    return await shared.restore(needed(_NAME, "version_id", version_id), wanted)
