"""Answers questions about what an agent did and knows: asks the backends, ranks what they bring.

Every answer is made of candidates. What each backend looks through is its own matter.
"""

from collections.abc import Mapping, Sequence
from itertools import islice

import msgspec

from holdfast.contract.errors import Unavailable
from holdfast.contract.journal import JournalError, Session
from holdfast.contract.managed.retrieval import (
    BUILT_IN,
    BackendName,
    BackendSummary,
    Candidate,
    ContextHits,
    MemoryHits,
    RetrievalHits,
    TraceHits,
    Wanted,
)
from holdfast.contract.managed.shell_views import ShellView
from holdfast.contract.vectors import Question, VectorBackend
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.retrieval.among import Among, Backend
from holdfast.runtime.managed.retrieval.events import ContextBackend, TraceBackend
from holdfast.runtime.managed.retrieval.expanding import planned
from holdfast.runtime.managed.retrieval.hits import neighbour_of
from holdfast.runtime.managed.retrieval.memory import MemoryBackend
from holdfast.runtime.managed.retrieval.ranking import (
    OF_NO_SESSION,
    Goal,
    Viewer,
    candidate_of,
    in_order,
    merged,
)
from holdfast.runtime.managed.retrieval.vectors import VectorHits

_MORE = 4
"""Of each backend: several times as many as are shown, as some are the same."""
_LEAST = 32
_NO_PROVIDER = "No provider of vector search is configured: it selects nothing."


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What backends brought, before what is the same counts once."""

    current: Session
    candidates: tuple[Candidate, ...]
    summary: tuple[BackendSummary, ...]


class Finding:
    """Of one session."""

    def __init__(
        self, ground: Ground, shell: ShellView, vectors: VectorBackend | None = None
    ) -> None:
        """``vectors``: who finds events by what they mean; None: nobody."""
        self._ground = ground
        self._backends: Mapping[BackendName, Backend] = {
            "memory": MemoryBackend(shell),
            "session_context": ContextBackend(),
            "session_trace": TraceBackend(),
            **({} if vectors is None else {"vector": VectorHits(vectors)}),
        }

    async def memory(self, wanted: Wanted, /) -> MemoryHits:
        """What is remembered: lessons, shared notes, and what sessions keep of themselves."""
        found = await self._found(wanted, [self._backends["memory"]])
        hits = _first(found, wanted)
        return MemoryHits(
            agent_id=self._ground.agent_id, query=wanted.query, count=len(hits), hits=hits
        )

    async def context(self, wanted: Wanted, types: tuple[str, ...], /) -> ContextHits:
        """Events of sessions, and what is remembered; with types, events of these alone."""
        context: Backend = ContextBackend(types)
        backends = [context] if types else [context, self._backends["memory"]]
        hits = _first(await self._found(wanted, backends), wanted)
        return ContextHits(
            agent_id=self._ground.agent_id, query=wanted.query, count=len(hits), hits=hits
        )

    async def traces(self, wanted: Wanted, /) -> TraceHits:
        """Runs over sessions."""
        hits = _first(await self._found(wanted, [self._backends["session_trace"]]), wanted)
        return TraceHits(session_id=self._ground.session_id, count=len(hits), hits=hits)

    async def everywhere(
        self, wanted: Wanted, backends: tuple[BackendName, ...], /
    ) -> RetrievalHits:
        """In several backends at once; none named: in all that are built in or provided."""
        named = tuple(dict.fromkeys(backends)) or tuple(self._backends) or BUILT_IN
        there = [self._backends[one] for one in named if one in self._backends]
        found = await self._found(wanted, there)
        shown = merged(found.candidates)[: wanted.limit]
        managed = found.current.state.managed
        record = None if managed is None else managed.evaluated
        plan = planned(
            (member for one in shown for member in one.members),
            ready=record is not None and record.evaluation.promotion_ready,
            trend=None if record is None else record.evaluation.trend,
        )
        absent = (
            BackendSummary(backend=one, available=False, note=_NO_PROVIDER)
            for one in named
            if one not in self._backends
        )
        return RetrievalHits(
            agent_id=self._ground.agent_id,
            query=wanted.query,
            count=len(shown),
            backend_summary=(*found.summary, *absent),
            expansion_plan=plan,
            hits=tuple(one.candidate for one in shown),
        )

    async def _found(self, wanted: Wanted, backends: Sequence[Backend]) -> Found:
        current = await self._ground.session()
        try:
            return await self._asked(wanted, backends, current)
        except JournalError as problem:
            raise Unavailable(f"The sessions cannot be searched: {problem}") from None

    async def _asked(self, wanted: Wanted, backends: Sequence[Backend], current: Session) -> Found:
        among = Among(self._ground, await self._ground.stores(), current)
        asked = Question(
            text=wanted.query,
            agents=among.agents,
            sessions=await among.relatives(wanted.lineage),
            without=None if wanted.include_current else current.id,
            limit=max(wanted.limit * _MORE, _LEAST),
        )
        managed = current.state.managed
        goal = Goal() if managed is None else Goal(managed.outcome_title, managed.success_criteria)
        viewer = Viewer(self._ground.agent_id, goal)
        candidates: list[Candidate] = []
        summary: list[BackendSummary] = []
        for backend in backends:
            brought = await backend.search(asked, among)
            named = (one.session_id for one in brought.hits if one.session_id is not None)
            sessions = await among.of(named)
            known = {name: neighbour_of(one, current) for name, one in sessions.items()}
            candidates += [
                candidate_of(backend.name, one, known.get(one.session_id or ""), viewer)
                for one in brought.hits
                if one.session_id in known or one.source in OF_NO_SESSION
            ]
            summary.append(
                BackendSummary(
                    backend=backend.name,
                    candidates=len(brought.hits),
                    unindexed=brought.unindexed,
                    available=brought.available,
                    note=brought.note,
                )
            )
        return Found(current=current, candidates=tuple(candidates), summary=tuple(summary))


def _first(found: Found, wanted: Wanted) -> tuple[Candidate, ...]:
    return tuple(islice(in_order(found.candidates), wanted.limit))
