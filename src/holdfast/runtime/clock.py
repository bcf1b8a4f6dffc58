"""The machine's clock behind the Clock port."""

import time
from datetime import UTC, datetime


class SystemClock:
    """UTC wall time, and a stopwatch that never goes back."""

    def now(self) -> datetime:
        """The wall clock, in UTC."""
        return datetime.now(UTC)

    unix_ns = staticmethod(time.time_ns)
    ticks = staticmethod(time.perf_counter_ns)
