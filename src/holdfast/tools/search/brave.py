"""The Brave Search API, and what speaks like it. Pure; its key is a header of the request."""

from holdfast.contract.searching import SearchHit, SearchRequest
from holdfast.tools.search.asked import address
from holdfast.tools.search.hits import answer_in, at, hits_of

USUAL_URL = "https://api.search.brave.com/res/v1/web/search"
_MOST = 20
"""More it does not give at once."""
_LONGEST_QUERY = 400


class Brave:
    """The API at an address, with a key."""

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._key = key

    def __repr__(self) -> str:
        """Without the key: a value that is printed somewhere must not tell it."""
        return f"Brave({self._url!r})"

    def request(self, query: str, count: int, /) -> SearchRequest:
        """Longer queries it refuses, so they are cut."""
        url = address(self._url, {"q": query[:_LONGEST_QUERY], "count": min(count, _MOST)})
        headers = {"Accept": "application/json", "X-Subscription-Token": self._key}
        return SearchRequest(url=url, headers=headers)

    def hits(self, answer: bytes, count: int, /) -> tuple[SearchHit, ...]:
        """`web.results`, each with `title`, `url` and `description`; no `web` where none fit."""
        told = answer_in(answer)
        if at(told, "type") == "search" and at(told, "web") is None:
            return ()
        listed = at(told, "web", "results")
        return tuple(hits_of(listed, count, url="url", title="title", snippet="description"))
