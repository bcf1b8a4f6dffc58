"""`web_search`: one query, and what a provider found."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.searching import SearchHit, WebSearch
from holdfast.contract.tool import DEFAULT_WALL_SECONDS

MOST_SECONDS = DEFAULT_WALL_SECONDS - 10
"""No configuration gives a search more: it tells of its end itself."""


class Results(msgspec.Struct, frozen=True):
    """What was found, the best first."""

    results: tuple[SearchHit, ...]


@builtin(
    read_only=True,
    parallel_safe=True,
    interrupt_behavior="cancel",
    acp_kind="fetch",
    effects=("resource_read",),
    # The provider's host is added where a session is put together: configuration names it.
)
async def web_search(
    query: Annotated[str, msgspec.Meta(min_length=1, max_length=1000)],
    web: WebSearch,
    max_results: Annotated[int, msgspec.Meta(ge=1, le=50)] = 10,
) -> Results:
    """Search the web; gives titles, URLs and snippets, and fetches none of the pages.

    Read a page that looks right with web_fetch. The number of searches in a session is limited.
    Example: {"query": "python asyncio cancel scope", "max_results": 5}

    Args:
        query: What to look for, as for a search engine: a few telling words.
        max_results: How many results at most; a provider may have fewer.
    """
    return Results(await web.search(query, max_results))
