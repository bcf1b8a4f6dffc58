"""A time limit for a blocking call of a foreign client that has none of its own.

The call runs in a thread; when its time is up it is interrupted by its own means, and given up when
that does not help. What is called is not known here.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from contextlib import suppress
from typing import TypeVar

_T = TypeVar("_T")

GRACE_SECONDS = 5.0
"""How long an interrupted call may take to return."""


class TimeLimit:
    """For one call."""

    def __init__(self, seconds: float | None, interrupt: Callable[[str], object]) -> None:
        """``interrupt`` is called with the name of the run, as soon as there is one."""
        self._seconds = seconds
        self._interrupt = interrupt
        self._named: Future[str] = Future()

    def named(self, name: str) -> None:
        """The run has begun, and this is what it is called."""
        if not self._named.done():
            self._named.set_result(name)

    def run(self, work: Callable[[], _T]) -> _T | None:
        """What the call gives; None when its time was up. What it raises is raised here."""
        if self._seconds is None:
            return work()
        done: Future[_T] = Future()
        threading.Thread(target=_fulfil, args=(done, work), daemon=True).start()
        try:
            return done.result(self._seconds)
        except Late:
            if done.done():
                raise  # the call's own, which happens to be of the same kind
        # In a thread of its own: whoever does not answer a call may not answer this one either.
        threading.Thread(target=self._stop, daemon=True).start()
        with suppress(Late):
            done.exception(GRACE_SECONDS)
        return None

    def _stop(self) -> None:
        try:
            self._interrupt(self._named.result(GRACE_SECONDS))
        except Exception:  # noqa: BLE001 - it is given up in any case
            return


def _fulfil(done: "Future[_T]", work: Callable[[], _T]) -> None:
    try:
        done.set_result(work())
    except BaseException as problem:  # noqa: BLE001 - raised again where it is waited for
        done.set_exception(problem)
