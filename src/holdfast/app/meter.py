"""What a worker counts of its runs, for whoever watches it. Who asks for it is not known here."""

from collections.abc import Callable

from holdfast.contract.journal import Journal, JournalError
from holdfast.contract.session_state import due_micros
from holdfast.contract.wakes import WakeEnd, WakeRunner
from holdfast.runtime.clock import SystemClock

_MICROS = 1_000_000


class Meter:
    """Counts, since the worker began. Used on one event loop."""

    def __init__(self) -> None:
        self.ready: Callable[[], bool] = _not_yet
        """Whether what is due is heard of now."""
        self.draining = False
        self.runs = 0
        self.in_vain = 0
        self.in_hand = 0
        self.waits = 0
        self.waited_seconds = 0.0

    def drain(self) -> None:
        """It begins nothing more."""
        self.draining = True

    @property
    def is_ready(self) -> bool:
        """Whether it takes what is due."""
        return not self.draining and self.ready()

    def lines(self) -> str:
        """As Prometheus reads it."""
        told = (
            ("runs_total", "counter", "Runs that were executed.", self.runs),
            ("runs_in_vain_total", "counter", "Runs with nothing to do.", self.in_vain),
            ("in_hand", "gauge", "Sessions that are run now.", self.in_hand),
            ("ready", "gauge", "Whether it takes what is due.", int(self.is_ready)),
        )
        lines = [
            f"# HELP holdfast_worker_{name} {says}\n"
            f"# TYPE holdfast_worker_{name} {kind}\n"
            f"holdfast_worker_{name} {value}\n"
            for name, kind, says, value in told
        ]
        waited = "holdfast_worker_wake_wait_seconds"
        lines.append(
            f"# HELP {waited} How long what was due waited for its run.\n# TYPE {waited} summary\n"
            f"{waited}_sum {self.waited_seconds:.6f}\n{waited}_count {self.waits}\n"
        )
        return "".join(lines)


def metered(run: WakeRunner, journal: Journal, meter: Meter) -> WakeRunner:
    """The same, counted."""

    async def counted(session_id: str, /) -> WakeEnd:
        since = await _due(journal, session_id)
        began = SystemClock().unix_ns() // 1000
        meter.in_hand += 1
        try:
            end = await run(session_id)
        finally:
            meter.in_hand -= 1
        if not end.executed:
            meter.in_vain += 1
            return end
        meter.runs += 1
        if since is not None:
            meter.waits += 1
            meter.waited_seconds += max(0, began - since) / _MICROS
        return end

    return counted


async def _due(journal: Journal, session_id: str) -> int | None:
    """Since when it is due; None: it is not known, or nobody said when."""
    try:
        return due_micros((await journal.session(session_id)).state) or None
    except JournalError:
        return None


def _not_yet() -> bool:
    return False
