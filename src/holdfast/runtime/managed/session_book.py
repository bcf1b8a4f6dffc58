"""The sessions of an agent, as one of them looks at them: lists, snapshots, how crowded each is.

How a session is shown is `summaries`' to know, and how lists are ordered the archive's.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta

import msgspec

from holdfast.contract.archive import SessionQuery
from holdfast.contract.journal import EventQuery, Session
from holdfast.contract.managed.crowding import Pressure
from holdfast.contract.managed.sessions import (
    ChildList,
    DescribedContext,
    Relation,
    SessionFilter,
    SessionList,
    SessionSummary,
)
from holdfast.contract.managed_events import ContextMeasured
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.reading import reading
from holdfast.runtime.managed.session_folders import shown_of
from holdfast.runtime.managed.session_likeness import rank, ranked
from holdfast.runtime.managed.summaries import Summaries, Viewpoint

_MEASURED = EventQuery(types=("context.measured",), limit=1)
_NEVER_RUN = "No run of it has come to rest since its context is measured."


class SessionBook:
    """As one session sees it."""

    def __init__(self, ground: Ground, summaries: Summaries) -> None:
        self._ground = ground
        self._summaries = summaries

    async def sessions(self, wanted: SessionFilter, /) -> SessionList:
        """The sessions that fit."""
        seen_from = await self._summaries.viewpoint()
        found = await self._listed(wanted, seen_from, self._query(wanted, seen_from))
        return SessionList(agent_id=self._ground.agent_id, count=len(found), sessions=found)

    async def children(self, session_id: str | None, wanted: SessionFilter, /) -> ChildList:
        """Those directly below one."""
        parent = (await self._ground.session(session_id)).id
        seen_from = await self._summaries.viewpoint()
        query = msgspec.structs.replace(self._query(wanted, seen_from), parent_id=parent)
        found = await self._listed(wanted, seen_from, query, stands="child")
        return ChildList(parent_session_id=parent, count=len(found), sessions=found)

    async def snapshot(self, session_id: str | None, /) -> SessionSummary:
        """Where one stands, with the files that show it."""
        session = await self._ground.session(session_id)
        seen_from = await self._summaries.viewpoint()
        counts = await self._counts([session])
        return await self._summaries.summary(
            session, seen_from, counts.get(session.id, 0), whole=True
        )

    async def context(self, session_id: str | None, /) -> DescribedContext:
        """How crowded its context is, or was when it came to rest."""
        session = await self._ground.session(session_id)
        known = await self._crowding(session)
        return DescribedContext(
            session_id=session.id,
            available=known is not None,
            artifact_paths=await shown_of(self._ground, session.id, "context_budget"),
            context_budget=None if known is None else known.budget,
            pressure=None if known is None else _pressure(known),
            reason=_NEVER_RUN if known is None else None,
        )

    async def _listed(
        self,
        wanted: SessionFilter,
        seen_from: Viewpoint,
        query: SessionQuery,
        stands: Relation | None = None,
    ) -> tuple[SessionSummary, ...]:
        with reading():
            archive = (await self._ground.stores()).archive
            found: Sequence[Session] = await archive.sessions(query)
        if wanted.include_current and wanted.lineage is None and _fits(seen_from, query):
            found = _with_current(found, seen_from)[: query.limit]
        counts = await self._counts(found)
        return tuple(
            [
                await self._summaries.summary(one, seen_from, counts.get(one.id, 0), stands=stands)
                for one in found
            ]
        )

    def _query(self, wanted: SessionFilter, seen_from: Viewpoint) -> SessionQuery:
        minutes = wanted.active_minutes
        since = None
        if minutes is not None:
            since = self._ground.clock.now() - timedelta(minutes=minutes)
        return msgspec.structs.replace(
            self._ours(),
            status=wanted.status,
            active_since=since,
            has_outcome=wanted.has_outcome,
            outcome_status=wanted.outcome_status,
            outcome_trend=wanted.outcome_trend,
            promotion_ready=wanted.promotion_ready,
            like=seen_from.like,
            kin=wanted.lineage,
            limit=wanted.limit,
        )

    def _ours(self) -> SessionQuery:
        """All of the agent."""
        ground = self._ground
        is_usual = ground.agent_id == ground.usual_agent
        return SessionQuery(agent_id=ground.agent_id, or_nobodys=is_usual)

    async def _counts(self, sessions: Iterable[Session]) -> dict[str, int]:
        with reading():
            archive = (await self._ground.stores()).archive
            return dict(await archive.child_counts([one.id for one in sessions], self._ours()))

    async def _crowding(self, session: Session) -> ContextMeasured | None:
        """Of the calling session as it is now, of others as it was when they last rested."""
        now = self._ground.crowding() if session.id == self._ground.session_id else None
        if now is not None:
            told = msgspec.to_builtins(now.pressure)
            return ContextMeasured(budget=now.budget, pressure=told)
        with reading():
            journal = (await self._ground.stores()).journal
            for event in await journal.find(session.id, _MEASURED):
                if isinstance(event.payload, ContextMeasured):
                    return event.payload
        return None


def _pressure(known: ContextMeasured) -> Pressure | None:
    if known.pressure is None:
        return None
    return msgspec.convert(known.pressure, Pressure)


def _with_current(found: Sequence[Session], seen_from: Viewpoint) -> Sequence[Session]:
    """The calling session in its place: its live shell is known here alone."""
    like, verdict = seen_from.like, seen_from.verdict
    trend = None if verdict.evaluation is None else verdict.evaluation.trend
    own = ranked(seen_from.session, like, trend)
    before = [one for one in found if rank(one, like) > own]
    return [*before, seen_from.session, *found[len(before) :]]


def _fits(seen_from: Viewpoint, query: SessionQuery) -> bool:
    """Whether the calling session is among those that are asked for."""
    session, verdict = seen_from.session, seen_from.verdict
    state, evaluation = session.state, verdict.evaluation
    asked_and_found = (
        (query.parent_id, state.parent_id),
        (query.status, state.status),
        (query.has_outcome, seen_from.like.outcome_title is not None),
        (query.outcome_status, verdict.status),
        (query.outcome_trend, None if evaluation is None else evaluation.trend),
        (query.promotion_ready, evaluation is not None and evaluation.promotion_ready),
    )
    is_active = query.active_since is None or session.updated_at >= query.active_since
    return is_active and all(asked in (None, found) for asked, found in asked_and_found)
