"""What the tools that search make of their arguments."""

from holdfast.contract.errors import InvalidArguments
from holdfast.contract.managed.retrieval import Lineage, Wanted

MOST_CHARACTERS = 2_000
"""Of a query: what stands behind them is not looked for, and not said again in the answer."""


def wanted(
    tool: str, query: str, limit: int, lineage: Lineage | None, *, include_current: bool
) -> Wanted:
    """What is looked for; InvalidArguments where nothing is."""
    asked = query.strip()[:MOST_CHARACTERS]
    if not asked:
        raise InvalidArguments(f"{tool} requires a non-empty query", field="query")
    return Wanted(query=asked, limit=limit, lineage=lineage, include_current=include_current)
