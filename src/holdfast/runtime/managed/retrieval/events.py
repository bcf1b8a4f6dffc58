"""The backends that look through what happened: event by event, and run by run."""

from collections.abc import Iterable, Iterator, Sequence

from holdfast.contract.archive import Worded
from holdfast.contract.events import AgentMessage, Event
from holdfast.contract.journal import EventQuery
from holdfast.contract.managed.retrieval import BackendName
from holdfast.contract.vectors import Question
from holdfast.record.searching import searchable
from holdfast.runtime.managed.retrieval.among import Among, best, titled
from holdfast.runtime.managed.retrieval.hits import Brought, Hit
from holdfast.runtime.managed.text_score import Query, query_of

SAID: tuple[str, ...] = ("user.message", "user.interrupt", "user.custom_tool_result")
"""What people say, which belongs to no run."""
DONE: tuple[str, ...] = (
    *("agent.message", "agent.tool_use", "model.replied", "call.settled"),
    *("session.child_created", "session.child_idle"),
)
"""What the agent says in a run, and what its tools answer."""
MOST_WAKES = 12
MOST_OF_WAKE = 200
"""The last events of a run are read."""
_LONGEST = 60_000
"""Characters of a run's text that count."""


class ContextBackend:
    """Finds events."""

    name: BackendName = "session_context"

    def __init__(self, types: tuple[str, ...] = ()) -> None:
        """``types``: only such events, whatever they tell; none: those that say something new."""
        self._types = types

    async def search(self, asked: Question, among: Among, /) -> Brought:
        """The events that fit, the best first."""
        query = query_of(asked.text)
        told: list[Worded] = []
        unindexed = 0
        for types in (self._types,) if self._types else (SAID, DONE):
            near = await among.near(asked, types, only_new=types == DONE)
            told += (one for one in near.events if self._types or among.shows_more(one.event))
            unindexed = max(unindexed, near.unindexed)
        hits = (among.hit(query, one.text, _of_event(one)) for one in told)
        return Brought(best(_each_once(hits), asked.limit), unindexed)


class TraceBackend:
    """Finds runs over sessions: by all that happened in them."""

    name: BackendName = "session_trace"

    async def search(self, asked: Question, among: Among, /) -> Brought:
        """The runs that fit, the best first."""
        near = await among.near(asked, DONE, only_new=True)
        query = query_of(asked.text)
        wakes = dict.fromkeys(
            (one.event.session_id, wake_id)
            for one in near.events
            if (wake_id := one.event.wake_id) is not None and among.shows_more(one.event)
        )
        hits = [
            await self._run(query, among, session_id, wake_id)
            for session_id, wake_id in [*wakes][:MOST_WAKES]
        ]
        return Brought(best(hits, asked.limit), near.unindexed)

    async def _run(self, query: Query, among: Among, session_id: str, wake_id: str) -> Hit | None:
        wanted = EventQuery(wake_id=wake_id, limit=MOST_OF_WAKE)
        events = await among.stores.journal.find(session_id, wanted)
        if not events:
            return None
        texts = (searchable(one.payload) for one in events if among.shows_more(one))
        made = Hit(
            source="wake_trace",
            title=_summary(events) or f"Run {wake_id}",
            snippet="",
            points=0,
            session_id=session_id,
            wake_id=wake_id,
            created_at=events[-1].at.isoformat(),
        )
        return among.hit(query, "\n".join(filter(None, texts))[:_LONGEST], made)


def _of_event(worded: Worded) -> Hit:
    event = worded.event
    return Hit(
        source="session_event",
        title=titled(worded),
        snippet="",
        points=0,
        session_id=event.session_id,
        event_id=event.id,
        wake_id=event.wake_id,
        created_at=event.at.isoformat(),
    )


def _summary(events: Sequence[Event]) -> str:
    """What a run said at its end, in short."""
    for event in reversed(events):
        said = event.payload
        if isinstance(said, AgentMessage) and said.summary:
            return said.summary.splitlines()[0][:120]
    return ""


def _each_once(hits: Iterable[Hit | None]) -> Iterator[Hit]:
    """What a session says twice in the same words counts once."""
    seen: set[tuple[str | None, str]] = set()
    for one in hits:
        if one is not None and (one.session_id, one.snippet) not in seen:
            seen.add((one.session_id, one.snippet))
            yield one
