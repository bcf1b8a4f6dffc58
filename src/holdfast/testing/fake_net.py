"""A web in memory: a `Net` for tests of tools that fetch.

Requests are read and redirects followed by the code of the real one; only the hosts are made up.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import msgspec

from holdfast.contract.errors import OperationFailed, PolicyDenied, Unavailable
from holdfast.contract.gates import host_requirement
from holdfast.contract.net import USUAL_LIMITS, Fetched, FetchLimits
from holdfast.execution.network.web_request import (
    WebRequest,
    WebUrl,
    first_request,
    read_url,
    redirected,
)

_ADDRESS = "192.0.2.1"


class Asked(NamedTuple):
    """A request as a page gets it."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What a URL answers."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


Answering = Page | Callable[[Asked], Page]
_MISSING = Page(status=404, body=b"there is no such page")


class FakeNet:
    """Serves pages by their URL. Their hosts are within reach, all others are refused."""

    def __init__(self, pages: Mapping[str, Answering], *, silent: Iterable[str] = ()) -> None:
        self._pages = {str(_plain(url)): page for url, page in pages.items()}
        self._hosts = {_plain(url).place for url in pages}
        self._silent = {_plain(url).place for url in silent}
        """Within reach, but nobody is there."""
        self.asked: list[Asked] = []

    async def fetch(
        self,
        url: str,
        /,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        limits: FetchLimits = USUAL_LIMITS,
    ) -> Fetched:
        """One request, its redirects included."""
        request = first_request(url, method, headers, body)
        hops: list[str] = []
        while True:
            page = self._answer(request)
            location = next((value for name, value in page.headers if name == "Location"), None)
            onward = redirected(request, page.status, location) if limits.max_redirects else None
            if onward is None:
                return Fetched(
                    url=str(request.url),
                    status=page.status,
                    headers=page.headers,
                    body=b"" if request.method == "HEAD" else page.body[: limits.max_bytes],
                    truncated=request.method != "HEAD" and len(page.body) > limits.max_bytes,
                    hops=tuple(hops),
                    address=_ADDRESS,
                )
            hops.append(str(request.url))
            if len(hops) > limits.max_redirects:
                raise OperationFailed(f"{hops[0]} leads to too many redirects.")
            request = onward

    def _answer(self, request: WebRequest) -> Page:
        url = request.url
        if url.place in self._silent:
            raise Unavailable(f"{url.place} cannot be reached.")
        if url.place not in self._hosts:
            raise PolicyDenied(
                f"{url.place} is out of reach.",
                extras={
                    "target": url.place,
                    "requirement": host_requirement(url.host, url.port),
                },
            )
        asked = Asked(request.method, str(url), dict(request.headers), request.body)
        self.asked.append(asked)
        page = self._pages.get(str(url), _MISSING)
        return page if isinstance(page, Page) else page(asked)


def _plain(url: str) -> WebUrl:
    read = read_url(url)
    if isinstance(read, str):
        raise ValueError(f"{url!r}: {read}")
    return read
