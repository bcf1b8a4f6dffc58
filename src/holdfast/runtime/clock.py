"""The machine's clock behind the Clock port, and that of a server that many machines share."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache, partial

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KEPT_NS = 60_000_000_000
"""How long the best answer of a server counts: clocks drift apart."""


def _stopwatch() -> Callable[[], int]:
    """One that also counts while the machine sleeps, where there is one."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return partial(time.clock_gettime_ns, time.CLOCK_BOOTTIME)
    return time.perf_counter_ns


class SystemClock:
    """UTC wall time, and a stopwatch that never goes back."""

    def now(self) -> datetime:
        """The wall clock, in UTC."""
        return datetime.now(UTC)

    unix_ns = staticmethod(time.time_ns)
    ticks = staticmethod(_stopwatch())


class ServerClock:
    """What time it is at a server, never ahead of it: all who use its store go by that.

    What it said was true before it was heard, so the latest of what it said, each moved on by the
    time since, is the nearest. Until it says something the machine's own clock has to do.
    """

    def __init__(self) -> None:
        self._ahead: int | None = None
        """Of the stopwatch."""
        self._heard_at = 0

    def hear(self, unix_micros: int, /) -> None:
        """What time it was there, a moment ago. From any thread."""
        ticks = self.ticks()
        ahead = unix_micros * 1000 - ticks
        if self._ahead is None or ahead > self._ahead or ticks - self._heard_at > _KEPT_NS:
            self._ahead, self._heard_at = ahead, ticks

    def now(self) -> datetime:
        """The same moment as a date, in UTC."""
        return _EPOCH + timedelta(microseconds=self.unix_ns() // 1000)

    def unix_ns(self) -> int:
        """Nanoseconds since 1970."""
        ahead = self._ahead
        return time.time_ns() if ahead is None else ahead + self.ticks()

    ticks = staticmethod(SystemClock.ticks)


TRUE_CLOCKS = (SystemClock, ServerClock)
"""Those that tell what time it is, and not what a test says."""


@cache
def clock_of(server: str) -> ServerClock:
    """The clock of a server, by any name that is its own: one for all who use it here."""
    del server
    return ServerClock()
