"""One thread that commits for everybody: what comes while it is busy shares the next commit.

Each caller's work sees the work before it, and fails alone. What the work is, and which store it is
done in, is not known here.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Generic, NamedTuple, Protocol, TypeVar

from holdfast.contract.journal import JournalUnavailable

MOST_AT_ONCE = 256
"""Works that share one commit."""

_T = TypeVar("_T")
_C = TypeVar("_C")
_C_co = TypeVar("_C_co", covariant=True)

Work = Callable[[_C], object]
"""Done inside of a transaction. A JournalError raised before anything was written is its result."""


class Committer(Protocol[_C_co]):
    """A store that can do several works in one transaction."""

    def commit(self, works: Sequence[Work[_C_co]], /) -> Sequence[object | Exception]:
        """Do all and commit once; the result of each, or how it failed. Never raises."""
        ...

    def close(self) -> None:
        """Let go of the store."""
        ...


class _Errand(NamedTuple, Generic[_C]):
    work: Work[_C]
    done: Callable[[object | Exception], None]


class GroupCommit(Generic[_C]):
    """Takes works from any task or thread."""

    def __init__(self, store: Committer[_C]) -> None:
        self._store = store
        self._waiting: SimpleQueue[_Errand[_C] | None] = SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="holdfast journal", daemon=True)
        self._thread.start()

    async def do(self, work: Callable[[_C], _T]) -> _T:
        """Have it done and committed. Cancelled, it may have been done all the same."""
        loop = asyncio.get_running_loop()
        result: asyncio.Future[object | Exception] = loop.create_future()

        def settle(found: object | Exception) -> None:
            if not result.done():
                result.set_result(found)

        def tell(found: object | Exception) -> None:
            with suppress(RuntimeError):  # its event loop has ended: nobody waits any more
                loop.call_soon_threadsafe(settle, found)

        self._put(_Errand(work, tell))
        found = await result
        if isinstance(found, Exception):
            raise found
        return found  # pyright: ignore[reportReturnType] - the result of this very work

    async def close(self) -> None:
        """Wait until all that was asked for is committed."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._waiting.put(None)
        await asyncio.to_thread(self._thread.join)

    def _put(self, errand: _Errand[_C]) -> None:
        with self._closing:
            if self._closed:
                raise JournalUnavailable("the journal is closed")
            self._waiting.put(errand)

    def _serve(self) -> None:
        over = False
        while not over:
            errands, over = self._taken()
            if errands:
                for errand, found in zip(
                    errands, self._store.commit([one.work for one in errands]), strict=True
                ):
                    errand.done(found)
        self._store.close()

    def _taken(self) -> tuple[list[_Errand[_C]], bool]:
        """What waits, at least one; whether it was the last."""
        first = self._waiting.get()
        errands: list[_Errand[_C]] = []
        while first is not None:
            errands.append(first)
            if len(errands) == MOST_AT_ONCE or self._waiting.empty():
                return errands, False
            first = self._waiting.get()
        return errands, True
