"""The searches of a session and its subagents: their provider, how many, and how long one may take.

What a provider's answers look like is not known here.
"""

import threading
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TypeVar

from anyio import CapacityLimiter, fail_after, to_thread

from holdfast.contract.errors import OperationTimedOut, PolicyDenied, Unavailable
from holdfast.contract.events import CallIntended, ChildCreated, Payload
from holdfast.contract.journal import EventQuery, Journal, UnknownSession
from holdfast.contract.net import Fetched, FetchLimits
from holdfast.contract.runtime import Runtime
from holdfast.contract.searching import (
    LocalProvider,
    NotSearched,
    RemoteProvider,
    SearchHit,
    SearchProvider,
)

_T = TypeVar("_T")

_MOST_BYTES = 2 * 1024 * 1024
_LONG_ENOUGH = 3600.0
"""The time there is for a search ends it before."""
_WELL = range(200, 300)
_REFUSED = frozenset({401, 402, 403})
_INTENDED, _CHILD = "call.intended", "session.child_created"
_NOBODY = (
    "web_search is not available: no search provider is configured. Go on without searching, or"
    " ask for the URLs of pages and read them with web_fetch; whoever runs this host can add a"
    " [[web.search]] table to the configuration."
)


class SessionSearch:
    """What the searches of a session share."""

    def __init__(
        self, provider: Callable[[], SearchProvider] | None, calls: int, seconds: float
    ) -> None:
        """``provider`` makes it, which may block; it is asked once. Unavailable when it cannot."""
        self._make = provider
        self._made: SearchProvider | None = None
        self._making = threading.Lock()
        self._most = calls
        self._seconds = seconds
        self._used = 0
        self._threads = CapacityLimiter(1)

    def used_before(self, calls: int) -> None:
        """The session was taken up, and so many of its calls were made by then."""
        self._used = max(self._used, calls)

    def of_call(self, runtime: Runtime) -> "CallSearch":
        """The port of one call."""
        return CallSearch(self, runtime)

    def begun(self) -> Callable[[], SearchProvider]:
        """One more, whatever comes of it: gives who makes the provider.

        Unavailable when nobody does; PolicyDenied when none is left.
        """
        if self._make is None:
            raise Unavailable(_NOBODY)
        if self._used >= self._most:
            raise PolicyDenied(
                f"This session has used all of its {self._most} web searches; nobody was asked."
                " Work with what was found so far, or read known pages with web_fetch."
            )
        self._used += 1
        return self._make

    async def search(self, runtime: Runtime, query: str, count: int) -> tuple[SearchHit, ...]:
        """Count one, and ask the provider within the time there is."""
        make = self.begun()
        try:
            with fail_after(self._seconds):
                provider = self._made
                if provider is None:
                    provider = await self._blocking(partial(self._provider, make))
                if isinstance(provider, LocalProvider):
                    return await self._blocking(partial(provider.find, query, count))
                return await _asked(provider, runtime, query, count)
        except TimeoutError:
            raise OperationTimedOut(
                f"The search took longer than {self._seconds:g} s. Try it once more, or with"
                " fewer words."
            ) from None
        except NotSearched as problem:
            raise Unavailable(f"The search provider cannot be used: {problem}.") from None

    def _provider(self, make: Callable[[], SearchProvider]) -> SearchProvider:
        """In a thread: made once, and kept though whoever asked for it is gone meanwhile."""
        with self._making:
            if self._made is None:
                self._made = make()
            return self._made

    async def _blocking(self, work: Callable[[], _T]) -> _T:
        return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._threads)


class CallSearch:
    """The searches of a session, as one call has them: a `WebSearch`."""

    def __init__(self, session: SessionSearch, runtime: Runtime) -> None:
        self._session = session
        self._runtime = runtime

    async def search(self, query: str, count: int, /) -> tuple[SearchHit, ...]:
        """One query with its hits."""
        return await self._session.search(self._runtime, query, count)


async def calls_before(journal: Journal, session_id: str, tool: str) -> int:
    """How many calls of a tool the journal tells of that were about to run, by subagents too."""
    total = 0
    sessions = [session_id]
    for one in sessions:
        async for told in _told(journal, one):
            match told:
                case CallIntended() if told.tool == tool:
                    total += 1
                case ChildCreated() if told.child_session_id not in sessions:
                    sessions.append(told.child_session_id)
                case _:
                    pass
    return total


async def _told(journal: Journal, session_id: str) -> AsyncIterator[Payload]:
    before: str | None = None
    while True:
        query = EventQuery(types=(_INTENDED, _CHILD), before=before)
        try:
            page = await journal.find(session_id, query)
        except UnknownSession:  # a subagent whose session was deleted
            return
        if not page or page[0].id == before:  # the same again: its id is damaged
            return
        before = page[0].id
        for event in page:
            yield event.payload


async def _asked(
    provider: RemoteProvider, runtime: Runtime, query: str, count: int
) -> tuple[SearchHit, ...]:
    request = provider.request(query, count)
    # Somewhere else than where it was sent, the key of a request has no business.
    limits = FetchLimits(seconds=_LONG_ENOUGH, max_bytes=_MOST_BYTES, max_redirects=0)
    answer = await runtime.net.fetch(request.url, headers=request.headers, limits=limits)
    _refuse_failed(answer)
    return provider.hits(answer.body, count)


def _refuse_failed(answer: Fetched) -> None:
    if answer.truncated:
        raise NotSearched(f"its answer is longer than {_MOST_BYTES:,} bytes")
    if answer.status in _REFUSED:
        raise NotSearched(f"it refuses this host's key or address (status {answer.status})")
    if answer.status not in _WELL:
        raise NotSearched(f"it answered with status {answer.status}")
