"""One event loop in a thread of its own, for code that blocks and has none.

It never keeps the interpreter from ending. A forked child gets a loop of its own: the parent's is
not there, only its files are. What is waited for is not known here.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import TypeVar

_T = TypeVar("_T")


class BackgroundLoop:
    """Starts when it is first needed; safe to use from any thread but its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._inherited: list[object] = []

    def wait_for(self, work: Callable[[], Coroutine[object, object, _T]]) -> _T:
        """Run work in the loop and wait for its end; an interrupt takes the work with it."""
        loop = self._running()
        if threading.current_thread() is self._thread:
            raise RuntimeError("the background loop cannot wait for itself")
        waiting: Future[_T] = asyncio.run_coroutine_threadsafe(work(), loop)
        try:
            return waiting.result()
        except BaseException:
            waiting.cancel()
            raise

    def forget(self) -> None:
        """Begin anew, in a forked child: what the parent has is neither used nor given back.

        Its loop is kept unused: collected, it would speak to the kernel in the parent's name.
        """
        self._inherited += [self._loop, self._thread]
        self._lock = threading.Lock()
        self._loop = self._thread = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="holdfast-backends", daemon=True
                )
                self._thread.start()
            return self._loop


BACKGROUND = BackgroundLoop()
os.register_at_fork(after_in_child=BACKGROUND.forget)
