"""Threads for bodies that block: daemons, reused, never waited for at exit.

A body past its deadline keeps its thread, since Python cannot stop one; nobody waits for it, and
what it was waiting for on the event loop is cancelled. Its thread ends when the body does.
"""

import contextvars
import os
import threading
from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from typing import TypeVar

from holdfast.contract.errors import Unavailable
from holdfast.execution.drive import Cancel, LoopCaller, Turns, Wakeup

MOST_AT_ONCE = 40
MOST_IDLE = 8
MOST_GIVEN_UP = 200
"""Bodies past their deadline that still run. With so many no further one is started."""

_T = TypeVar("_T")


class _Errand:
    """One call for a thread."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self._context = contextvars.copy_context()
        self._over = Wakeup()
        self._lock = threading.Lock()
        self._loop = LoopCaller()
        self._cancel: Cancel | None = None
        self.given_up = False
        self._finished = False
        self.value: object = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """In the thread."""
        _current.errand = self
        try:
            self.value = self._context.run(self._call)
        except BaseException as error:  # noqa: BLE001 - it is raised again where it is awaited
            self.error = error
        finally:
            _current.errand = None
            with self._lock:
                self._finished = True
                _given_up.discard(self)
            self._over.set()

    async def result(self) -> object:
        """On the event loop; whoever stops waiting gives the body up."""
        try:
            await self._over.wait()
        except BaseException:
            self._give_up()
            raise
        if self.error is not None:
            try:
                raise self.error
            finally:
                self.error = None  # or it would hold its own traceback, and that this frame
        return self.value

    def wait(self, work: Coroutine[object, object, _T]) -> _T:
        """In the thread: take work to its end on the event loop."""
        with self._lock:
            if self.given_up:
                work.close()
                raise RuntimeError("the call is over; nothing can be waited for any more")
            result, self._cancel = self._loop.begin(work)
        try:
            return result()
        finally:
            self._cancel = None

    def _give_up(self) -> None:
        with self._lock:
            self.given_up = True
            if self._finished:
                return  # nothing would ever take it off the list again
            _given_up.add(self)
            if self._cancel is not None:
                self._cancel()


class _Current(threading.local):
    errand: _Errand | None = None


_current = _Current()
_idle: list["SimpleQueue[_Errand]"] = []
_given_up: set[_Errand] = set()
_turns = Turns(MOST_AT_ONCE)


def _begin_anew() -> None:
    """In the child after a fork: the threads stayed behind."""
    _idle.clear()
    _given_up.clear()


os.register_at_fork(after_in_child=_begin_anew)


async def in_thread(call: Callable[[], object]) -> object:
    """Run a blocking call in a thread of its own."""
    if len(_given_up) >= MOST_GIVEN_UP:
        raise Unavailable(
            f"{MOST_GIVEN_UP} earlier calls went past their time and still run; no further one is"
            " started until some of them end. Give such tools a timeout of their own."
        )
    async with _turns.here():
        return await _run(call)


async def _run(call: Callable[[], object]) -> object:
    errand = _Errand(call)
    try:
        queue = _idle.pop()
    except IndexError:
        queue = SimpleQueue[_Errand]()
        threading.Thread(target=_serve, args=(queue,), daemon=True, name="holdfast tool").start()
    queue.put(errand)
    return await errand.result()


def wait_in_thread(work: Coroutine[object, object, _T]) -> _T:
    """Wait, in the thread of a body, for work of the event loop that called it."""
    errand = _current.errand
    if errand is None:
        work.close()
        raise RuntimeError(
            "rt.wait is for synchronous tools, in the thread they were started in; await it instead"
        )
    return errand.wait(work)


def _serve(queue: "SimpleQueue[_Errand]") -> None:
    while True:
        queue.get().run()
        if len(_idle) >= MOST_IDLE:
            return
        _idle.append(queue)
