"""What a run leaves: a wake where nobody wanted it to end, and nothing that nobody awaits."""

from collections.abc import Iterable

from holdfast.agent.endings import retry_wake
from holdfast.agent.place import Workplace
from holdfast.contract.journal import EventQuery, Journal
from holdfast.runtime.waiting_below import end_below


async def leave_a_wake(place: Workplace, wake_id: str | None) -> None:
    """Have the session run again at once, unless a person stopped that run; JournalError."""
    journal = await place.log.journal()
    if not await _is_stopped(journal, place.session_id, wake_id):
        await journal.append(place.session_id, [retry_wake(place, place.clock.now())])


async def _is_stopped(journal: Journal, session_id: str, wake_id: str | None) -> bool:
    """Whether a person stopped this run."""
    of_run = EventQuery(types=("span.started",), wake_id=wake_id)
    begun = await journal.find(session_id, of_run)
    stops = await journal.find(session_id, EventQuery(types=("user.interrupt",), limit=1))
    return any(
        stop.processed_at is None or not begun or stop.processed_at >= begun[0].at for stop in stops
    )


async def end_unawaited(
    journal: Journal, session_id: str, waiting: dict[str, str], lost: Iterable[str]
) -> None:
    """End what nobody waits for any more: a person stopped its call, or its program is gone.

    ``waiting``: the sessions below that wait for somebody, by the calls that wait for them.
    """
    open_calls = (await journal.session(session_id)).state.calls
    over = [waiting.pop(name) for name in tuple(waiting) if name not in open_calls]
    for child in (*over, *lost):
        await end_below(journal, child)
