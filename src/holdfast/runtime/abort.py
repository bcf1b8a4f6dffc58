"""A switch that tells running calls to stop. Thread-safe; pulled once."""

import threading
from collections.abc import Callable

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
        pulled = Wakeup()
        unsubscribe = self.subscribe(pulled.set)
        try:
            await pulled.wait()
        finally:
            unsubscribe()

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
