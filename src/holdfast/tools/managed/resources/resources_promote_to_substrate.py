"""`resources_promote_to_substrate`: a session's file, shared with all sessions of the agent."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.resources import Promoted, SharedFiles, Wanted
from holdfast.tools.managed.given import needed, trimmed

_NAME = "resources_promote_to_substrate"


@builtin(
    read_only=False,
    destructive=True,
    permission_policy="always_ask",
    effects=("resource_read", "resource_write"),
    acp_kind="edit",
    interrupt_behavior="block",
)
async def resources_promote_to_substrate(  # noqa: PLR0913 - the arguments of the tool
    shared: SharedFiles,
    source_path: str,
    target_path: str | None = None,
    overwrite: bool = False,  # noqa: FBT001, FBT002 - an argument of the tool
    require_outcome_pass: bool | None = None,  # noqa: FBT001 - an argument of the tool
    expected_version_id: str | None = None,
    expected_content_hash: str | None = None,
) -> Promoted:
    """Share a session file in the agent's substrate as a new version. Compare first.

    Args:
        source_path: In the workspace.
        target_path: In the substrate; usually where it was staged from, or the same path.
        overwrite: Needed where the file exists.
        require_outcome_pass: Default: if there is an outcome.
    """
    wanted = Wanted(
        tool=_NAME,
        require_outcome_pass=require_outcome_pass,
        expected_version_id=trimmed(expected_version_id),
        expected_content_hash=trimmed(expected_content_hash),
    )
    source = needed(_NAME, "source_path", source_path)
    return await shared.promote(source, trimmed(target_path), wanted, overwrite=overwrite)
