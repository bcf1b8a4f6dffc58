"""What every tool that searches declares and says. Which one is not known here."""

from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.tool import Limits, OutputBound
from holdfast.contract.tool_options import ToolOptions

_BRACES = late_pattern(r"\{[^{}]*,[^{}]*\}")


def why_more(stopped: str | None, pattern: str | None, *, found: bool) -> str | None:
    """Why there may be more than was found; None: that is all."""
    if stopped is not None:
        return f"There may be more: {stopped}. Narrow the search to see it."
    if not found and pattern is not None and _BRACES.search(pattern):
        return "Braces are plain text in a pattern: search once for each of what they hold."
    return None


def search_options(shown: OutputBound, required: str) -> ToolOptions:
    """``shown``: how much of what is found; ``required``: the argument whose emptiness is told."""
    return ToolOptions(
        requires={"fs": {"read": ["**"]}},
        uses={"path": "fs.read"},
        effects=("resource_read",),
        read_only=True,
        parallel_safe=True,
        interrupt_behavior="cancel",
        acp_kind="search",
        limits=Limits(output=shown),
        keep_empty=(required,),
    )
