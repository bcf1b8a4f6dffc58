"""A search of the web: who answers it, and what a tool gets of it.

A provider only translates: a query into a request, an answer into hits. Who sends the request, and
whether it may be sent, is not a provider's to know.
"""

from collections.abc import Mapping
from typing import Annotated, Protocol, runtime_checkable

import msgspec

from holdfast.contract.call_port import CallPort


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was found."""

    title: str
    url: Annotated[str, msgspec.Meta(description="Ready to be used with web_fetch.")]
    snippet: Annotated[str, msgspec.Meta(description="The words around what was found.")]


class SearchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to ask a provider's host."""

    url: str
    headers: Mapping[str, str] = {}


class NotSearched(Exception):
    """A provider's answer holds no results; the message says what it holds."""


class RemoteProvider(Protocol):
    """A provider that is asked over the network."""

    def request(self, query: str, count: int, /) -> SearchRequest:
        """How to ask for so many hits."""
        ...

    def hits(self, answer: bytes, count: int, /) -> tuple[SearchHit, ...]:
        """What it answered, whatever that is; NotSearched when nothing can be made of it."""
        ...


@runtime_checkable
class LocalProvider(Protocol):
    """A provider that is on this machine."""

    def find(self, query: str, count: int, /) -> tuple[SearchHit, ...]:
        """Blocking. NotSearched says why it cannot search."""
        ...


SearchProvider = RemoteProvider | LocalProvider


class WebSearch(CallPort, Protocol):
    """Searches of the calling session: one provider, so many calls."""

    async def search(self, query: str, count: int, /) -> tuple[SearchHit, ...]:
        """One query with its hits.

        Unavailable: there is no provider, or it does not answer. PolicyDenied: no calls are left,
        or its host is out of reach. OperationTimedOut: it took too long.
        """
        ...
