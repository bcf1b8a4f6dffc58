"""SearXNG, and what speaks like it: `GET /search?q=...&format=json`. Pure."""

from urllib.parse import urlsplit, urlunsplit

from holdfast.contract.searching import SearchHit, SearchRequest
from holdfast.tools.search.asked import address
from holdfast.tools.search.hits import answer_in, at, hits_of


class SearXng:
    """An instance, by its address; its settings have to allow the format `json`."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        path = parts.path.rstrip("/")
        if not path.endswith("/search"):
            path += "/search"
        self._url = urlunsplit(parts._replace(path=path))

    def request(self, query: str, _count: int, /) -> SearchRequest:
        """It gives as many as it has on a page, however many are wanted."""
        url = address(self._url, {"q": query, "format": "json"})
        return SearchRequest(url=url, headers={"Accept": "application/json"})

    def hits(self, answer: bytes, count: int, /) -> tuple[SearchHit, ...]:
        """`results`, each with `title`, `url` and `content`."""
        listed = at(answer_in(answer), "results")
        return tuple(hits_of(listed, count, url="url", title="title", snippet="content"))
