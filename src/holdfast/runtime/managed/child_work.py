"""Work for sessions below one, with a summary of where each stands.

How they are made and run is `child_sessions`' to know.
"""

from collections.abc import Callable

from holdfast.contract.delegation import ChildSessions, ChildTask
from holdfast.contract.managed.sessions import DelegatedSession, RanChild, SessionSummary
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.session_book import SessionBook


class ChildWork:
    """Of one session."""

    def __init__(
        self, ground: Ground, children: Callable[[], ChildSessions], book: SessionBook
    ) -> None:
        self._ground = ground
        self._children = children
        self._book = book

    async def delegate(self, task: ChildTask, /) -> DelegatedSession:
        """Make a child session that holds this task."""
        made = await self._children().delegate(task)
        return DelegatedSession(
            parent_session_id=made.parent_session_id,
            child_session=await self._seen(made.child_session_id),
            seeded_event_ids=made.seeded_event_ids,
        )

    async def run_child(self, session_id: str, max_cycles: int, /) -> RanChild:
        """Run a child for so many wakes at most."""
        await self._ground.session(session_id)  # of another agent's, nothing is told
        ran = await self._children().run_child(session_id, max_cycles)
        return RanChild(
            parent_session_id=ran.parent_session_id,
            child_session=await self._seen(ran.child_session_id),
            executed_cycles=ran.executed_cycles,
            loop_stop_reason=ran.loop_stop_reason,
            child_stop_reason=ran.child_stop_reason,
            response=ran.response,
            queued_wake_ids=ran.queued_wake_ids,
            processed_event_ids=ran.processed_event_ids,
        )

    async def _seen(self, session_id: str) -> SessionSummary:
        return await self._book.snapshot(session_id)
