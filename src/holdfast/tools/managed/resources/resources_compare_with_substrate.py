"""`resources_compare_with_substrate`: a session's file beside the shared one."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.resources import Comparison, SharedFiles
from holdfast.tools.managed.given import needed, trimmed


@builtin(effects=("resource_read",), acp_kind="read", parallel_safe=True)
async def resources_compare_with_substrate(
    shared: SharedFiles,
    session_path: str,
    substrate_path: str | None = None,
    max_preview_lines: Annotated[int, msgspec.Meta(ge=1, le=100)] = 12,
) -> Comparison:
    """Compare a session file with the shared one; pass promote_precondition on to promote.

    Args:
        session_path: In the workspace.
        substrate_path: Usually where it was staged from, or the same path.
    """
    given = needed("resources_compare_with_substrate", "session_path", session_path)
    return await shared.compare(given, trimmed(substrate_path), max_preview_lines)
