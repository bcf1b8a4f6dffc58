"""The processes of a session end before somebody else may run it, where another machine could.

On one machine whoever takes a session up sees whether its runner has ended, and a runner takes its
processes along. Elsewhere a lease that has run out is all there is to see.
"""

from contextlib import suppress
from functools import partial

from holdfast.app.assembly import Whole
from holdfast.contract.journal import JournalError
from holdfast.execution.processes.tenure import Tenure
from holdfast.runtime.clock import TRUE_CLOCKS
from holdfast.runtime.session_log import SessionLog

_MOST_ENDING_SECONDS = 2.0
"""In which all that runs is ended once the moment has come, also where a machine has much to do."""


def ending_seconds(lease_seconds: float) -> float:
    """How long before the end of a lease the processes that it was for are ended."""
    return min(_MOST_ENDING_SECONDS, lease_seconds / 5)


def hold_processes(parts: Whole) -> None:
    """Have the processes of a session end with the right to run it."""
    log = parts.log
    if log is None or not isinstance(parts.clock, TRUE_CLOCKS):
        return  # another clock does not tell what time it is for processes
    times = log.right.times
    # More often than the lease has to be renewed: it only is when nobody else has done it.
    tenure = Tenure(partial(_renewed, log), times.heartbeat_seconds / 2)
    log.right.kept = partial(_hold, tenure)
    parts.hand.make = partial(parts.hand.make, tenure=tenure)


def _hold(tenure: Tenure, asked_ticks: int, seconds: float) -> None:
    tenure.hold(asked_ticks / 1e9 + seconds - ending_seconds(seconds))


async def _renewed(log: SessionLog) -> None:
    """Keep the right to run a session whose processes run, also between its runs."""
    with suppress(JournalError):  # then they end when it does
        if log.right.is_due:
            await log.heartbeat()
