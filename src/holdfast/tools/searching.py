"""What is declared of every tool that searches. Which one is not known here."""

from holdfast.contract.tool import Limits, OutputBound
from holdfast.contract.tool_options import ToolOptions


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
