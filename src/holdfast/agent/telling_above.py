"""What the session above is told when a session that it made comes to rest.

It is told before the rest itself is written down: killed in between, a session is run once more and
tells again, where the other way round the one above would wait for ever.
"""

import logging

from holdfast.agent.place import Workplace
from holdfast.contract.delegation import CHILD_RESTS, DELEGATED
from holdfast.contract.events import ChildIdle, StopReason
from holdfast.contract.journal import UnknownSession
from holdfast.contract.session_state import SessionState
from holdfast.contract.wake_events import WakeQueued

_log = logging.getLogger("holdfast")
LONGEST_SUMMARY = 2000


async def tell_above(
    place: Workplace, state: SessionState, stop_reason: StopReason, summary: str
) -> None:
    """Wake the session above, unless there is none, or it waits for this run itself."""
    above = state.parent_id
    if above is None or not state.metadata.get(DELEGATED) or not place.tells_above():
        return
    child = place.session_id
    said = summary[:LONGEST_SUMMARY]
    rested = ChildIdle(
        child_session_id=child, child_stop_reason=stop_reason, summary=said, executed_cycles=1
    )
    wake = WakeQueued(
        queued_wake_id=place.ids.new("wak"),
        due_at=place.clock.now(),
        reason=CHILD_RESTS,
        note=f"{child} ({stop_reason}): {said}",
        dedupe_key=f"child:{child}:{place.log.wake_id}",
    )
    journal = await place.log.journal()
    try:
        await journal.append(above, [rested, wake])
    except UnknownSession:
        _log.warning("session %s rests, and %s above it is not there any more", child, above)
