"""`sandbox_search_files`: files below the agent's home, by name."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.results import Entry, SearchResult
from holdfast.contract.search import MOST_ENTRIES, FileSearch, PathQuery
from holdfast.contract.tool import OutputBound
from holdfast.tools.searching import search_options

_SHOWN = OutputBound(max_bytes=300_000, max_items=MOST_ENTRIES, fields=("entries",))


@builtin(**search_options(_SHOWN, "query"))
async def sandbox_search_files(
    query: Annotated[str, msgspec.Meta(min_length=1)],
    search: FileSearch,
    path: str | None = None,
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_ENTRIES)] | None = None,
) -> SearchResult:
    """Find files below the agent home by name; every path found can be read or shared as it is.

    `query` is a part of the name, or a pattern with `*` and `?` for the whole name. Example:
    {"query": "report"} or {"query": "*.csv", "path": "out"}

    Args:
        query: The name, a part of it, or a pattern for it.
        path: The directory to look in and below; the whole home if left out.
        limit: Stop after so many files; left out, all are found.
    """
    if "/" in query:
        raise InvalidArguments(
            "A query is a name, not a path: give the directory as `path`.",
            field="query",
            expected="a name such as `report.csv`",
        )
    name = query if "*" in query or "?" in query else f"*{query}*"
    wanted = PathQuery(pattern=f"**/{name}", path=path, kind="file", limit=limit)
    found = await search.paths(wanted)
    entries = tuple(Entry(one.path.rpartition("/")[2], one.path, "file") for one in found.entries)
    return SearchResult(
        query=query,
        entries=entries,
        match_count=len(entries),
        truncated=found.stopped is not None,
    )
