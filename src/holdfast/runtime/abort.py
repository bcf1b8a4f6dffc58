"""Switches that tell running calls to stop. Thread-safe; pulled once."""

import threading
from collections.abc import Callable

from holdfast.contract.runtime import AbortSignal
from holdfast.execution.drive import Wakeup


class Abort:
    """One signal for every call of a run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.aborted = False
        """Whether the switch was pulled."""
        self._stops: dict[object, Callable[[], None]] = {}

    def set(self) -> None:
        """Pull the switch. Pulling it twice is harmless."""
        with self._lock:
            self.aborted = True
            stops = list(self._stops.values())
            self._stops.clear()
        for stop in stops:
            stop()

    async def wait(self) -> None:
        """Return once the switch is pulled, from whichever thread."""
        await _pulled(self)

    def subscribe(self, stop: Callable[[], None], /) -> Callable[[], None]:
        """Have ``stop`` called once when the switch is pulled, at once if it was already."""
        mark = object()
        with self._lock:
            late = self.aborted
            if not late:
                self._stops[mark] = stop
        if late:
            stop()
        return lambda: self._forget(mark)

    def _forget(self, mark: object) -> None:
        with self._lock:
            self._stops.pop(mark, None)


class Either:
    """Two signals as one: given as soon as one of them is."""

    def __init__(self, one: AbortSignal, other: AbortSignal) -> None:
        self._one = one
        self._other = other

    @property
    def aborted(self) -> bool:
        """Whether one of them was given."""
        return self._one.aborted or self._other.aborted

    async def wait(self) -> None:
        """Return once one of them is given, from whichever thread."""
        await _pulled(self)

    def subscribe(self, stop: Callable[[], None], /) -> Callable[[], None]:
        """Have ``stop`` called once when the first of them is given, at once if it was already."""
        called = threading.Lock()

        def once() -> None:
            if called.acquire(blocking=False):
                stop()

        forgets = (self._one.subscribe(once), self._other.subscribe(once))

        def forget() -> None:
            for each in forgets:
                each()

        return forget


async def _pulled(signal: AbortSignal) -> None:
    pulled = Wakeup()
    unsubscribe = signal.subscribe(pulled.set)
    try:
        await pulled.wait()
    finally:
        unsubscribe()
