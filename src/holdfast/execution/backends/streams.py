"""Queues of sandbox operations: each stream runs its own one by one, several streams overlap.

For programs that arrange sandbox work by hand. The loop that answers a model's calls does not use
them, and a flow tool need not know them.
"""

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from holdfast.contract.backend import BackendTool, ToolResult

_T = TypeVar("_T")


class _Shared(Protocol):
    """The sandbox as a stream sees it."""

    def acquire(self) -> "_Shared": ...

    def release(self) -> None: ...

    def dispatch(self, payload: BackendTool, /) -> ToolResult | bool: ...


class StreamFuture(Generic[_T]):
    """What an operation of a stream will give."""

    def __init__(self, inner: "Future[_T]") -> None:
        self._inner = inner

    def result(self, timeout: float | None = None) -> _T:
        """Wait for it; what the operation raised is raised here, TimeoutError when it is late."""
        return self._inner.result(timeout)

    def done(self) -> bool:
        """Whether it is there."""
        return self._inner.done()


class StreamEvent:
    """A point in a stream, signalled when the stream reaches it."""

    def __init__(self) -> None:
        self._reached = threading.Event()
        self._at: float | None = None

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is signalled; whether it was. RuntimeError when it never will be."""
        reached = self._reached.wait(timeout)
        if reached and self._at is None:
            raise RuntimeError("the stream ended before it reached this event")
        return reached

    def synchronize(self) -> None:
        """Wait until it is signalled."""
        self.wait()

    def query(self) -> bool:
        """Whether it is signalled."""
        return self._at is not None

    def elapsed_time(self, end: "StreamEvent") -> float:
        """Milliseconds from this event to another."""
        if self._at is None or end._at is None:
            raise RuntimeError("elapsed_time requires both events to have been signaled")
        return (end._at - self._at) * 1000

    def signal(self) -> None:
        """It is reached."""
        self._at = time.monotonic()
        self._reached.set()

    def give_up(self) -> None:
        """It will never be reached: nobody shall wait for it."""
        self._reached.set()


class _Step(Generic[_T]):
    """One thing in the queue: what to do, whom to tell, and which event depends on it."""

    def __init__(self, action: Callable[[], _T], event: StreamEvent | None = None) -> None:
        self.future: Future[_T] = Future()
        self._action = action
        self._event = event

    def run(self) -> None:
        """Do it; what is no Exception also goes on to the worker."""
        try:
            value = self._action()
        except BaseException as problem:
            self.future.set_exception(problem)
            if not isinstance(problem, Exception):
                raise
        else:
            self.future.set_result(value)

    def fail(self, why: BaseException) -> None:
        """It will not be done any more."""
        self.future.set_exception(why)
        if self._event is not None:
            self._event.give_up()


class _Queue:
    """Steps in their order, done one at a time by the worker. It knows no sandbox."""

    def __init__(self, most_waiting: int) -> None:
        self._most_waiting = most_waiting
        self._waiting: deque[_Step[Any]] = deque()
        self._changed = threading.Condition()
        self._busy = False
        self.closed = False

    def put(self, step: _Step[Any]) -> None:
        """Add a step, once there is room for it."""
        with self._changed:
            self._changed.wait_for(self._has_room)
            self.refuse_when_closed()
            self._waiting.append(step)
            self._changed.notify_all()

    def refuse_when_closed(self) -> None:
        """Nothing can be done with a stream that was left."""
        if self.closed:
            raise RuntimeError("stream is closed")

    def is_idle(self) -> bool:
        """Whether nothing runs and nothing waits."""
        with self._changed:
            return not self._busy and not self._waiting

    def close(self) -> None:
        """Take no more; the worker ends when all is done."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def work(self) -> None:
        """Do what comes, until it is closed and empty. What kills the worker fails all steps."""
        try:
            while (step := self._next()) is not None:
                step.run()
        except BaseException as problem:  # noqa: BLE001 - whoever waits is told; nobody else would be
            self._fail_all(problem)

    def _has_room(self) -> bool:
        full = 0 < self._most_waiting <= len(self._waiting)
        return self.closed or not full

    def _next(self) -> _Step[Any] | None:
        with self._changed:
            self._busy = False
            self._changed.wait_for(lambda: self._waiting or self.closed)
            if not self._waiting:
                return None
            self._busy = True
            self._changed.notify_all()
            return self._waiting.popleft()

    def _fail_all(self, problem: BaseException) -> None:
        with self._changed:
            self.closed, self._busy = True, False
            left = list(self._waiting)
            self._waiting.clear()
            self._changed.notify_all()
        for step in left:
            why = RuntimeError(f"the stream's worker ended: {type(problem).__name__}: {problem}")
            why.__cause__ = problem
            step.fail(why)


class Stream:
    """First in, first out, one operation at a time, in a thread of its own.

    Use it as a context: leaving it waits for what is queued. It holds its sandbox open meanwhile.
    """

    def __init__(self, sandbox: _Shared, buffer: int = 0) -> None:
        self._sandbox = sandbox
        self._queue = _Queue(buffer)
        self._holds = [sandbox.acquire()]
        self._worker = threading.Thread(
            target=self._queue.work, name="holdfast-stream", daemon=True
        )
        self._worker.start()
        weakref.finalize(self, self._queue.close)

    def __enter__(self) -> Self:
        self._queue.refuse_when_closed()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Wait for what is queued, and end. Once more is harmless."""
        self._queue.close()
        self._worker.join()
        with suppress(IndexError):  # another has let go of it already
            self._holds.pop().release()

    def submit(self, payload: BackendTool) -> "StreamFuture[ToolResult | bool]":
        """Queue an operation; waits for room when the stream has a buffer and it is full."""
        sandbox = self._sandbox
        step: _Step[ToolResult | bool] = _Step(lambda: sandbox.dispatch(payload))
        self._queue.put(step)
        return StreamFuture(step.future)

    def record_event(self, event: StreamEvent | None = None) -> StreamEvent:
        """An event that is signalled when the stream has done all that is queued now."""
        event = event or StreamEvent()
        self._queue.put(_Step(event.signal, event))
        return event

    def wait_event(self, event: StreamEvent, timeout: float | None = None) -> StreamFuture[None]:
        """Let the stream wait for an event, of another stream or of its own.

        When it takes longer than the timeout, this future fails and the stream goes on.
        """

        def wait() -> None:
            if not event.wait(timeout):
                raise TimeoutError(f"wait_event timed out after {timeout}s")

        step = _Step(wait)
        self._queue.put(step)
        return StreamFuture(step.future)

    def wait_stream(self, other: "Stream") -> StreamFuture[None]:
        """Let the stream wait for what another one has queued by now."""
        self._queue.refuse_when_closed()
        return self.wait_event(other.record_event())

    def synchronize(self) -> None:
        """Wait until the stream has done all that is queued now."""
        self.record_event().synchronize()

    def query(self) -> bool:
        """Whether the stream is idle."""
        self._queue.refuse_when_closed()
        return self._queue.is_idle()
