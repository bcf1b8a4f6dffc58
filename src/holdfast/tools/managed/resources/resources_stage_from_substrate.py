"""`resources_stage_from_substrate`: a shared file, copied into the workspace to be worked on."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.resources import SharedFiles, Staged
from holdfast.tools.managed.given import needed, trimmed


@builtin(
    read_only=False,
    effects=("resource_read", "resource_write"),
    acp_kind="edit",
    interrupt_behavior="block",
)
async def resources_stage_from_substrate(
    shared: SharedFiles,
    source_path: str,
    target_path: str | None = None,
    overwrite: bool = False,  # noqa: FBT001, FBT002 - an argument of the tool
) -> Staged:
    """Copy a shared substrate file into the workspace; a draft of it that is there is kept.

    Args:
        source_path: In the substrate.
        target_path: In the workspace; usually the same.
        overwrite: Replace what is there.
    """
    source = needed("resources_stage_from_substrate", "source_path", source_path)
    return await shared.stage(source, trimmed(target_path), overwrite=overwrite)
