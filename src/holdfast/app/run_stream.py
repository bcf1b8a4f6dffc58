"""What a run tells, as it is told, to whoever listens; who stops listening stops the run.

Letting go of a stream is enough: nobody has to close it. What a run does is not known here.
"""

from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TypeVar

from anyio import CancelScope

from holdfast.app.telling import Told
from holdfast.execution.drive import LoopCaller, PlainTasks, Wakeup
from holdfast.runtime.abort import Abort

_T = TypeVar("_T")


class Runs:
    """The runs of one session: one at a time. Used on one event loop."""

    def __init__(self, whose: str) -> None:
        self._whose = whose
        self._tasks = PlainTasks()
        self._left = False
        self._caller: LoopCaller | None = None
        self.leaving = Abort()
        """Nobody waits any more for the run under way, nor for what would come behind it."""

    def __len__(self) -> int:
        return len(self._tasks)

    async def begin(self, work: Callable[[], Coroutine[object, object, None]]) -> None:
        """Have a run done, once one that is being left has ended; RuntimeError beside another."""
        if self._tasks and not (self._left or self.leaving.aborted):
            raise RuntimeError(f"session {self._whose} runs already; send() is heard by that run")
        self.leaving.set()
        await self._tasks.rest()
        self.leaving, self._left = Abort(), False
        self._caller = LoopCaller()
        self._tasks.begin(work())

    def leave(self) -> None:
        """Nobody listens any more; from whichever thread, in the middle of whatever it does."""
        self._left = True
        if self._caller is not None:
            self._caller.soon(self.leaving.set)

    async def end(self) -> None:
        """Stop the run under way, and wait until it has ended."""
        self.leaving.set()
        if not self._tasks:
            return
        with CancelScope(shield=True):  # it was told to stop: nobody leaves while it runs
            await self._tasks.rest()

    async def result(self, work: Callable[[], Coroutine[object, object, _T]]) -> _T:
        """What comes of one run; whoever stops waiting stops it."""
        found: list[_T] = []
        failed: list[Exception] = []

        async def take() -> None:
            try:
                found.append(await work())
            except Exception as problem:  # noqa: BLE001 - whoever waits is told
                failed.append(problem)

        await self.begin(take)
        try:
            await self._tasks.rest()
        finally:
            await self.end()
        if failed:
            raise failed[0]
        return found[0]


class _Ear:
    """Hears what is told. What runs holds this, and never the stream that reads from it."""

    def __init__(self) -> None:
        self.told: deque[Told] = deque()
        self.woken = Wakeup()
        self.failed: Exception | None = None
        self.ended = False

    def hear(self, one: Told) -> None:
        self.told.append(one)
        if len(self.told) == 1:
            self.woken.set()

    async def take(self, work: Callable[[], Coroutine[object, object, None]]) -> None:
        try:
            await work()
        except Exception as problem:  # noqa: BLE001 - whoever listens is told
            self.failed = problem
        finally:
            self.ended = True
            self.woken.set()


class RunStream:
    """An asynchronous iterator over one run."""

    def __init__(
        self,
        runs: Runs,
        listeners: list[Callable[[Told], None]],
        work: Callable[[], Coroutine[object, object, None]],
    ) -> None:
        self._runs = runs
        self._listeners = listeners
        self._work = work
        self._ear: _Ear | None = None
        self._closed = False

    def __aiter__(self) -> "RunStream":
        return self

    async def __anext__(self) -> Told:
        if self._closed:
            raise StopAsyncIteration
        try:
            ear = self._ear or await self._begun()
            while not ear.told and not ear.ended:
                await ear.woken.wait()
                ear.woken = Wakeup()
        except BaseException:
            await self.aclose()
            raise
        if ear.told:
            return ear.told.popleft()
        await self.aclose()
        if ear.failed is not None:
            raise ear.failed
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Stop the run, if it is under way, and wait until it has ended."""
        self._closed = True
        if self._ear is not None:
            self._listeners.remove(self._ear.hear)
            self._ear = None
            await self._runs.end()

    def __del__(self) -> None:
        if self._ear is not None:
            self._listeners.remove(self._ear.hear)
            self._runs.leave()

    async def _begun(self) -> _Ear:
        ear = _Ear()
        await self._runs.begin(partial(ear.take, self._work))
        self._ear = ear
        self._listeners.append(ear.hear)
        return ear
