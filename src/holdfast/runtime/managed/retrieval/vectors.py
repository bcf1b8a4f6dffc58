"""The backend for whoever finds events by what they mean: it is handed pointers, and reads itself.

How the events are found, and by which library, is not known here.
"""

import logging

from anyio import fail_after
from msgspec.structs import replace

from holdfast.contract.archive import Worded
from holdfast.contract.journal import EventQuery
from holdfast.contract.managed.retrieval import BackendName
from holdfast.contract.vectors import Pointer, Question, VectorBackend, VectorsUnavailable
from holdfast.contract.wake_events import LearningCaptured
from holdfast.record.searching import searchable
from holdfast.runtime.managed.retrieval.among import Among, is_within, titled
from holdfast.runtime.managed.retrieval.hits import Brought, Hit
from holdfast.runtime.managed.text_score import query_of, score, snippet

MOST_SECONDS = 4.0
"""How long a provider may take."""
MOST_POINTS = 10
"""What a text counts that means the same; how well the words fit counts beside it."""


_log = logging.getLogger("holdfast")


class VectorHits:
    """Finds events through a provider."""

    name: BackendName = "vector"

    def __init__(self, provider: VectorBackend) -> None:
        self._provider = provider

    async def search(self, asked: Question, among: Among, /) -> Brought:
        """What the provider points at, as far as it is there and within the question. Whatever goes
        wrong with it is said, and fails nothing else."""
        cleaned = replace(asked, text=among.ground.clean(asked.text))
        try:
            with fail_after(MOST_SECONDS):
                pointed = await self._provider.nearest(cleaned)
        except VectorsUnavailable as problem:
            return _without(among.ground.clean(str(problem)))
        except TimeoutError:
            return _without(f"It did not answer within {MOST_SECONDS:g} s.")
        except Exception as problem:  # noqa: BLE001 - the program's own provider
            _log.warning("a provider of vectors failed", exc_info=problem)
            return _without(f"It failed with {type(problem).__name__}.")
        found = [await self._hit(one, asked, among) for one in pointed.pointers[: asked.limit]]
        hits = tuple(one for one in found if one is not None)
        return Brought(hits, max(0, pointed.unindexed), pointed.note)

    async def _hit(self, pointer: Pointer, asked: Question, among: Among) -> Hit | None:
        if not await among.of([pointer.session_id]):
            return None
        exactly = EventQuery(around=pointer.event_id, before_limit=0, after_limit=0, limit=1)
        events = await among.stores.journal.find(pointer.session_id, exactly)
        if not events or events[0].id != pointer.event_id:
            return None
        event = events[0]
        is_learned = isinstance(event.payload, LearningCaptured)
        if not is_learned and not is_within(asked, pointer.session_id):
            return None
        query, text = query_of(asked.text), among.ground.clean(searchable(event.payload))
        words = score(query, text)
        similarity = min(1.0, max(0.0, pointer.similarity))
        title = titled(Worded(event, text))
        if isinstance(event.payload, LearningCaptured):
            title = event.payload.title
        return Hit(
            source="learning" if is_learned else "session_event",
            title=among.ground.clean(title),
            snippet=snippet(query, text),
            points=words.points + round(similarity * MOST_POINTS),
            reasons=(f"vector:{similarity:.2f}", *words.reasons),
            session_id=event.session_id,
            event_id=event.id,
            wake_id=None if is_learned else event.wake_id,
            created_at=event.at.isoformat(),
        )


def _without(why: str) -> Brought:
    return Brought(note=f"Nothing was found by meaning: {why}", available=False)
