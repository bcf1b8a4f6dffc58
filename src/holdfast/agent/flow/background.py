"""One event loop in a thread of its own, for flow work that blocking code starts and reads later.

It never keeps the interpreter from ending: what still runs then is cancelled and given a moment. A
forked child gets a loop of its own. What runs there is not known here.
"""

import atexit
import logging
import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial

import anyio
from anyio import get_cancelled_exc_class, get_current_task
from anyio.from_thread import BlockingPortal

_log = logging.getLogger("holdfast")

_LAST_SECONDS = 3.0
"""How long work that is cancelled at the interpreter's end may take to clean up."""
_CANCELLED = "the work was cancelled before its end"


def in_event_loop() -> bool:
    """Whether the calling thread runs an event loop, which must not be blocked."""
    try:
        get_current_task()
    except RuntimeError:  # whichever: with sniffio installed a thread may pass for a loop
        return False
    return True


def refuse_event_loop(name: str, instead: str) -> None:
    """Raise RuntimeError in an event loop: blocking it would stop whatever it runs."""
    if in_event_loop():
        raise RuntimeError(f"{name} blocks, and this is an event loop; use: await {instead}")


class Work:
    """Work under way, or ended."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._begun = self._interrupted = False
        self._lock = threading.Lock()
        self._error: BaseException | None = None
        self._task: Future[None] | None = None

    @property
    def done(self) -> bool:
        """Whether it came to its end, whichever."""
        return self._over.is_set()

    def wait(self) -> None:
        """Return at its end. An interrupt while waiting takes the work with it."""
        try:
            self._over.wait()
        except BaseException:
            self._interrupted = True
            self.cancel()
            raise

    def cancel(self) -> None:
        """Have it stop; harmless afterwards."""
        if self._task is not None:
            self._task.cancel()

    def error(self) -> BaseException | None:
        """Why it failed, if it did; told once."""
        with self._lock:
            told, self._error = self._error, None
        return None if self._interrupted else told

    @property
    def failed_unheard(self) -> BaseException | None:
        """Why it failed, as long as nobody was told."""
        return None if self._interrupted else self._error

    def started(self, task: "Future[None]") -> None:
        """It runs, or will."""
        self._task = task
        task.add_done_callback(self._never_ran)

    def _never_ran(self, _task: "Future[None]") -> None:
        with self._lock:
            if not self._begun:
                self._error = RuntimeError(_CANCELLED)
                self._over.set()

    def _begins(self) -> bool:
        """Whether it may: whoever cancelled it in time was told that it never did."""
        with self._lock:
            self._begun = not self._over.is_set()
            return self._begun

    async def run(self, work: Callable[[], Awaitable[object]]) -> None:
        """Take it to its end. Raised inside a loop, an interrupt would end all other work too."""
        if not self._begins():
            return
        try:
            await work()
        except get_cancelled_exc_class():
            self._error = RuntimeError(_CANCELLED)
            raise
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self._error = error
        finally:
            self._over.set()


class BackgroundLoop:
    """Starts when it is first needed; safe to use from any thread."""

    def __init__(self) -> None:
        self.forget()

    def start(self, work: Callable[[], Awaitable[object]]) -> Work:
        """Begin work there."""
        begun = Work()
        begun.started(self._running().start_task_soon(begun.run, work))
        return begun

    def forget(self) -> None:
        """Begin anew, as a forked child has to: the thread stayed behind."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._portal: BlockingPortal | None = None

    def stop(self) -> None:
        """Cancel what runs and end, as the end of the interpreter does."""
        thread, portal = self._thread, self._portal
        if thread is None or portal is None or not thread.is_alive():
            return
        # Not from here: it would wait for a loop that somebody's code may be blocking.
        stop = partial(portal.stop, cancel_remaining=True)
        threading.Thread(target=portal.call, args=(stop,), daemon=True).start()
        thread.join(_LAST_SECONDS)
        if thread.is_alive():
            _log.warning("flow work did not stop in time; it ends with the program")

    def _running(self) -> BlockingPortal:
        with self._lock:
            if self._portal is None or self._thread is None or not self._thread.is_alive():
                ready: Future[BlockingPortal] = Future()
                self._thread = threading.Thread(
                    target=anyio.run, args=(_serve, ready), name="holdfast flow", daemon=True
                )
                self._thread.start()
                self._portal = ready.result()
            return self._portal


async def _serve(ready: "Future[BlockingPortal]") -> None:
    async with BlockingPortal() as portal:
        ready.set_result(portal)
        await portal.sleep_until_stopped()


BACKGROUND = BackgroundLoop()
atexit.register(BACKGROUND.stop)
os.register_at_fork(after_in_child=BACKGROUND.forget)
