"""The same trivial tool for holdfast."""

from holdfast import tool


@tool(read_only=True)
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b
