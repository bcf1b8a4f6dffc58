"""Driving a coroutine with a deadline that costs nothing until the coroutine first waits.

The first step is the caller's: it sends once, and most tools end there with no timer ever armed.
Once the body waits, `Suspended` stands between it and the event loop: a deadline or an abort throws
a cancellation into the body, which then has a moment to clean up before it is given up. A
cancellation from outside goes through to the body and then on to the caller; it is never swallowed.
A body may drive another one in the same task: our cancellation stays counted until our body has
ended, so that the inner one sees that it comes from outside. Exceptions of the body pass through;
what they mean is not known here.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

from holdfast.contract.call import Ending, Interrupted, Returned, TimedOut
from holdfast.contract.runtime import AbortSignal

_log = logging.getLogger("holdfast")

CLEANUP_SECONDS = 0.5
_CANCEL_SECONDS = 0.1
"""Between two cancellations of what does not end."""


CancelledError = asyncio.CancelledError


class Wakeup:
    """An event of one loop that any thread may set."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    def set(self) -> None:
        """Wake whoever waits; harmless when the loop has ended."""
        if _running_loop() is self._loop:
            # As from another thread, whoever leaves meanwhile has not been woken; without the two
            # system calls that this costs there.
            self._loop.call_soon(self._event.set)
            return
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._event.set)

    async def wait(self) -> None:
        """Return once it is set."""
        await self._event.wait()


def this_loop() -> object:
    """The loop that runs here, to tell it from another one."""
    return asyncio.get_running_loop()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop of this thread, if one runs."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


Work = Coroutine[object, object, object]
Cancel = Callable[[], object]


class Suspended:
    """A body that took its first step and waits; awaiting this takes it to its end.

    That is its own end, its deadline or its abort, whichever comes first.
    """

    def __init__(
        self,
        body: Work,
        waiting_for: object,
        seconds: float | None,
        abort: AbortSignal | None,
    ) -> None:
        self._body = body
        self._waiting_for = waiting_for
        self._seconds = seconds
        self._abort = abort
        self._loop = asyncio.get_running_loop()
        self._task = cast("asyncio.Task[object]", asyncio.current_task(self._loop))
        self._cancelled_before = self._task.cancelling()
        self._our_cancellations = 0
        self._timer: asyncio.TimerHandle | None = None
        self._stopped_by: Ending | None = None
        self._had_its_moment = False
        self._finished = False
        self._last_cancellation: asyncio.CancelledError | None = None

    def __await__(self) -> Generator[object, object, Ending]:
        if self._seconds is not None:
            self._arm(self._seconds, TimedOut(self._seconds))
        unsubscribe = self._abort.subscribe(self._on_abort) if self._abort is not None else None
        try:
            return (yield from self._pump())
        finally:
            if self._timer is not None:
                self._timer.cancel()
            if unsubscribe is not None:
                unsubscribe()
            self._finished = True
            self._take_back_our_cancellations()

    def _pump(self) -> Generator[object, object, Ending]:
        waiting_for = self._waiting_for
        while True:
            try:
                sent = yield waiting_for
            except asyncio.CancelledError as cancelled:
                if self._had_its_moment:
                    return self._given_up()
                self._last_cancellation = cancelled
                step = partial(self._body.throw, cancelled)
            except (Exception, SystemExit) as problem:  # noqa: BLE001 - what it waited for: its business
                step = partial(self._body.throw, problem)
            else:
                step = partial(self._body.send, sent)
            try:
                waiting_for = step()
            except StopIteration as finished:
                return self._ended(Returned(finished.value))
            except asyncio.CancelledError:
                return self._ended(None)
            except (Exception, SystemExit):
                if self._stopped_by is None and not self._cancelled_from_outside():
                    raise
                return self._ended(None)

    def _arm(self, seconds: float, ending: Ending) -> None:
        self._timer = self._loop.call_later(seconds, self._stop, ending)

    def _on_abort(self) -> None:
        with suppress(RuntimeError):  # the loop has ended, and the call with it
            self._loop.call_soon_threadsafe(self._stop, Interrupted())

    def _stop(self, ending: Ending) -> None:
        """Cancel the body; it has a moment to end. The first reason counts."""
        if self._finished or self._stopped_by is not None:
            return  # an abort that arrives late must not cancel whatever the caller does next
        self._stopped_by = ending
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(CLEANUP_SECONDS, self._end_of_its_moment)
        self._cancel()

    def _end_of_its_moment(self) -> None:
        self._had_its_moment = True
        self._cancel()

    def _cancel(self) -> None:
        self._our_cancellations += 1
        self._task.cancel()

    def _take_back_our_cancellations(self) -> None:
        """Undo them, as far as the body has not done so itself."""
        while self._our_cancellations and self._task.cancelling() > self._cancelled_before:
            self._our_cancellations -= 1
            self._task.uncancel()
        self._our_cancellations = 0

    def _given_up(self) -> Ending:
        """Answer for a body that would not end, and undo what its open scopes left cancelled.

        A cancellation from outside in that moment cannot be told from theirs. anyio repeats its own
        at the caller's next step; a bare ``Task.cancel()`` in those 0.5 s is lost.
        """
        while self._task.cancelling() > self._cancelled_before:
            self._task.uncancel()
        return self._stopped_by or Interrupted()

    def _cancelled_from_outside(self) -> bool:
        """Whether somebody other than us and the body's own scopes wants this task to end.

        Asked when the body has ended: its own scopes have taken their cancellations back by then.
        """
        self._take_back_our_cancellations()
        return self._task.cancelling() > self._cancelled_before

    def _ended(self, returned: Returned | None) -> Ending:
        if self._cancelled_from_outside() and self._last_cancellation is not None:
            raise self._last_cancellation
        if isinstance(self._stopped_by, TimedOut):
            return self._stopped_by
        # An interrupted body may answer with what it has.
        return returned or self._stopped_by or Interrupted()


_T = TypeVar("_T")


class LoopCaller:
    """Takes work to the event loop it was made on, from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def begin(self, work: Coroutine[object, object, _T]) -> tuple[Callable[[], _T], Cancel]:
        """Begin it; what waits for its result in the calling thread, and what cancels it."""
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:  # the loop has ended
            work.close()
            raise
        return future.result, future.cancel

    def soon(self, call: Callable[[], object]) -> None:
        """Have it called there; harmless when the loop has ended."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call)


class PlainTasks:
    """Work under way on one loop, each piece in a task of its own.

    Without the task group that would end them: it costs a tenth of a whole call (design/0016). So
    whoever begins work here ends it here.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def begin(self, piece: Coroutine[object, object, None]) -> None:
        """Have it done. What it raises is logged, and ends nothing else."""
        task = asyncio.get_running_loop().create_task(piece)
        self._tasks.add(task)
        task.add_done_callback(self._is_done)

    async def end(self, seconds: float) -> None:
        """Cancel what is under way, and wait for it so long; what stays is told, and left."""
        until = asyncio.get_running_loop().time() + seconds
        while self._tasks and (left := until - asyncio.get_running_loop().time()) > 0:
            for task in self._tasks:
                task.cancel()  # again and again: a body may have taken one for its own
            await asyncio.wait(self._tasks, timeout=min(left, _CANCEL_SECONDS))
        if self._tasks:
            _log.error("%d pieces of work do not end; they are left", len(self._tasks))

    async def rest(self) -> None:
        """Wait until nothing is under way."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _is_done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            _log.error("work ended with an error", exc_info=problem)


class Delayed:
    """Work that begins after a while, unless it is over before: until then it is a timer alone."""

    def __init__(self, seconds: float, work: Callable[[], Coroutine[object, object, None]]) -> None:
        self._work = work
        self._tasks = PlainTasks()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._begin)
        self._has_begun = False

    def now(self) -> None:
        """Begin at once, if it has not begun and was not called off."""
        if not self._has_begun:
            self._timer.cancel()
            self._begin()

    def call_off(self) -> None:
        """Begin no more; what has begun goes on."""
        self._timer.cancel()
        self._has_begun = True

    @property
    def is_under_way(self) -> bool:
        """Whether it has begun, and not ended."""
        return bool(self._tasks)

    async def end(self, seconds: float) -> None:
        """Begin no more; what has begun is cancelled, and waited for so long."""
        self.call_off()
        await self._tasks.end(seconds)

    def _begin(self) -> None:
        self._has_begun = True
        self._tasks.begin(self._work())


class Turns:
    """Lets so many through at once; the others wait in the order they came."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            WeakKeyDictionary()
        )

    def here(self) -> AbstractAsyncContextManager[None]:
        """A turn on the running loop."""
        loop = asyncio.get_running_loop()
        found = self._by_loop.get(loop)
        if found is None:
            found = self._by_loop[loop] = asyncio.Semaphore(self._most)
        return found
