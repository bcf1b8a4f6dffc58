"""`tool_search`: find tools that are not offered yet."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.tool_index import ToolIndex, ToolMatch


class Matches(msgspec.Struct, frozen=True):
    """What was found, the best first."""

    matches: tuple[ToolMatch, ...]


@builtin(
    effects=("session_write",),
    acp_kind="search",
    interrupt_behavior="block",
    inline=True,
)
def tool_search(query: Annotated[str, msgspec.Meta(max_length=1000)], index: ToolIndex) -> Matches:
    """Find further tools by what they do; those that match can be called from your next step on.

    At most 10 are given, the best first; none is no error: try other words. Example:
    {"query": "open issues of a repository"}

    Args:
        query: A few words about what the tool is to do.
    """
    return Matches(index.search(query))
