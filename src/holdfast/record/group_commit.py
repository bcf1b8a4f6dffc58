"""Commits for everybody: at once where nobody else does, together with others where they wait.

A store that answers within microseconds is asked by the caller itself, as long as nobody is ahead
and no lock is held by another process. Where several tasks of an event loop ask at the same time,
what they ask for in one turn of it shares a commit. Everything else goes to one thread, where what
comes while it is busy shares the next commit. Each work sees the work before it, and fails alone.
What the work is, and which store it is done in, is not known here.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Generic, Literal, Protocol, TypeVar, cast

import msgspec

from holdfast.contract.journal import JournalError, JournalUnavailable
from holdfast.record.owner import Owner

MOST_AT_ONCE = 256
"""Works that share one commit."""
MOST_GATHERED = 32
"""Works that an event loop may wait for, together."""
_MOST_PATIENCE = 16
_LOOK_EVERY = 50

_T = TypeVar("_T")
_C = TypeVar("_C")
_C_co = TypeVar("_C_co", covariant=True)

Work = Callable[[_C], object]
"""Done inside of a transaction. A JournalError raised before anything was written is its result."""


def result_of(work: Work[_C], given: _C) -> object | Exception:
    """Do one of several works: a refusal is its own, and harms no other."""
    try:
        return work(given)
    except JournalError as refusal:
        return refusal


class Committer(Protocol[_C_co]):
    """A store that can do several works in one transaction."""

    def commit(
        self, works: Sequence[Work[_C_co]], /, *, wait: bool
    ) -> Sequence[object | Exception] | None:
        """Do all and commit once; the result of each, or how it failed. Never raises.

        None: others hold the store, and it was not to be waited for them.
        """
        ...

    def is_untidy(self) -> bool:
        """Whether there is something to tidy up; asked every now and then."""
        ...

    def tidy(self) -> None:
        """What takes longer and nobody waits for: others may commit meanwhile."""
        ...

    def end_tidying(self) -> None:
        """What is left of it once nobody commits: little."""
        ...

    def close(self) -> None:
        """Let go of the store."""
        ...


_Result = asyncio.Future[object]


class _Errand(msgspec.Struct, Generic[_C], frozen=True):
    work: Work[_C]
    loop: asyncio.AbstractEventLoop
    result: _Result


class GroupCommit(Generic[_C]):
    """Takes works from any task or thread."""

    def __init__(self, store: Committer[_C], *, at_once: bool) -> None:
        """``at_once``: a commit is quick enough to be done by whoever asks for it."""
        self._store = store
        self._owner = Owner()
        self._at_once = at_once
        self._store_is_used = threading.Lock()
        self._waiting: SimpleQueue[_Errand[_C] | Literal["close"]] = SimpleQueue()
        self._ahead = 0
        """Works that were handed over and are not done: nobody overtakes them."""
        self._closing = threading.Lock()
        self._closed = False
        self._gathered: dict[asyncio.AbstractEventLoop, list[_Errand[_C]]] = {}
        """What is committed at the end of a turn of its event loop."""
        self._crowd = _Crowd()
        self._tidying = _Tidying(store, self._store_is_used)
        self._thread = threading.Thread(target=self._serve, name="holdfast journal", daemon=True)
        self._thread.start()

    async def do(self, work: Callable[[_C], _T], *, at_once: bool = True) -> _T:
        """Have it done and committed. Cancelled, it may have been done all the same.

        ``at_once``: it is small enough to be done by whoever asks, if the store is.
        """
        self._owner.check()
        if not (at_once and self._at_once):
            found = await self._handed_over(work)
        elif self._gathered or self._crowd.may_be_there():
            found = await self._together(work)
        else:
            done = self._tried([work])
            found = await self._handed_over(work) if done is None else done[0]
        if isinstance(found, Exception):
            raise found
        return cast("_T", found)

    async def _handed_over(self, work: Work[_C]) -> object | Exception:
        loop = asyncio.get_running_loop()
        self._commit_gathered(loop)  # nobody is overtaken
        errand = _Errand(work, loop, loop.create_future())
        self._hand_over([errand])
        return await errand.result

    def _hand_over(self, errands: "list[_Errand[_C]]") -> None:
        with self._closing:
            if self._closed:
                raise JournalUnavailable("the journal is closed")
            self._ahead += len(errands)
            for errand in errands:
                self._waiting.put(errand)

    async def _together(self, work: Work[_C]) -> object | Exception:
        """Have it done at the end of this turn of the event loop, with what comes until then."""
        loop = asyncio.get_running_loop()
        errand = _Errand(work, loop, loop.create_future())
        gathered = self._gathered.get(loop)
        if gathered is None:
            self._gathered[loop] = [errand]
            loop.call_soon(self._commit_gathered, loop)
        else:
            gathered.append(errand)
            if len(gathered) == MOST_GATHERED:
                self._commit_gathered(loop)
        return await errand.result

    def _commit_gathered(self, loop: asyncio.AbstractEventLoop) -> None:
        errands = self._gathered.pop(loop, None)
        if errands is None:
            return
        self._crowd.was_seen(len(errands))
        found = self._tried([errand.work for errand in errands])
        if found is None:
            try:
                self._hand_over(errands)
            except JournalUnavailable as closed:
                found = [closed] * len(errands)
        if found is not None:
            _settle([(one.result, told) for one, told in zip(errands, found, strict=True)])

    def _tried(self, works: Sequence[Work[_C]]) -> Sequence[object | Exception] | None:
        """Do them here, if nobody is ahead and nothing has to be waited for."""
        if not self._store_is_used.acquire(blocking=False):
            return None
        try:
            if self._closed or self._ahead:
                return None
            found = self._store.commit(works, wait=False)
        finally:
            self._store_is_used.release()
        self._tidying.count(len(works))
        return found

    def close(self) -> None:
        """Wait until all that was asked for is committed. Blocking; in a forked child: nothing."""
        if not self._owner.is_here:
            return
        with self._closing:
            if not self._closed:
                self._closed = True
                self._waiting.put("close")
        self._thread.join()

    def _serve(self) -> None:
        closing = False
        while not closing:
            errands, closing = self._taken()
            with self._store_is_used:
                self._do_all(errands)
            self._tidying.count(len(errands))
        self._tidying.stop()
        with self._store_is_used:
            self._store.close()

    def _do_all(self, errands: "list[_Errand[_C]]") -> None:
        """Commit them together; each event loop is woken once."""
        if not errands:
            return
        found = self._store.commit([one.work for one in errands], wait=True) or ()
        with self._closing:
            self._ahead -= len(errands)
        told: dict[asyncio.AbstractEventLoop, list[tuple[_Result, object]]] = {}
        for errand, result in zip(errands, found, strict=True):
            told.setdefault(errand.loop, []).append((errand.result, result))
        for loop, results in told.items():
            with suppress(RuntimeError):  # it has ended: nobody waits there any more
                loop.call_soon_threadsafe(_settle, results)

    def _taken(self) -> "tuple[list[_Errand[_C]], bool]":
        """What waits, at least something; whether it was the last."""
        errands: list[_Errand[_C]] = []
        while True:
            first = self._waiting.get()
            if isinstance(first, str):
                return errands, True
            errands.append(first)
            if len(errands) == MOST_AT_ONCE or self._waiting.empty():
                return errands, False


class _Crowd:
    """Guesses whether several tasks ask at the same time: then waiting for the others pays.

    One task that asks again and again is alone. That another one asks may only mean that they take
    turns; whoever waited and met nobody makes the next ones wait more rarely.
    """

    def __init__(self) -> None:
        self._last: int | None = None
        self._patience = self._left = 0

    def may_be_there(self) -> bool:
        """Whether it is worth the wait for others."""
        task = id(asyncio.current_task())
        if task == self._last:
            return False
        self._last = task
        self._left -= 1
        return self._left < 0

    def was_seen(self, size: int) -> None:
        """So many asked together."""
        if size > 1:
            self._last = None
        self._patience = 0 if size > 1 else min(2 * self._patience + 1, _MOST_PATIENCE)
        self._left = self._patience


class _Tidying(Generic[_C]):
    """Tidies up every now and then, in a thread of its own: hardly anybody waits for it."""

    def __init__(self, store: Committer[_C], store_is_used: threading.Lock) -> None:
        self._store = store
        self._store_is_used = store_is_used
        self._left = _LOOK_EVERY
        self._wanted = threading.Event()
        self._stopped = False
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def count(self, works: int) -> None:
        """So many works were done."""
        self._left -= works
        if self._left <= 0:
            self._left = _LOOK_EVERY
            if self._store.is_untidy():
                self._want()

    def stop(self) -> None:
        """Wait for what it does, and end it."""
        with self._starting:
            self._stopped = True
            self._wanted.set()
        if self._thread is not None:
            self._thread.join()

    def _want(self) -> None:
        """Have it tidied up; the first time by a new thread, which most stores never need."""
        with self._starting:
            if self._thread is None and not self._stopped:
                self._thread = threading.Thread(
                    target=self._serve, name="holdfast tidying", daemon=True
                )
                self._thread.start()
            self._wanted.set()

    def _serve(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            if self._stopped:
                return
            self._store.tidy()
            # Whoever commits meanwhile adds to it: without a last step alone it would never end.
            with self._store_is_used:
                self._store.end_tidying()


def _settle(results: list[tuple[_Result, object]]) -> None:
    for waiting, result in results:
        if not waiting.done():
            waiting.set_result(result)
