"""How far a session came with its outcome: looked up in its journal, written down when it rests.

The rules are in `grading` and `evaluating`; what is made of a verdict is not known here.
"""

from collections.abc import Sequence

import msgspec

from holdfast.contract.events import Event, StopReason, WantedOutcome
from holdfast.contract.journal import MOST_EVENTS, EventQuery, Session
from holdfast.contract.managed_events import OutcomeEvaluated
from holdfast.contract.outcomes import (
    MOST_RECORDS,
    Evaluation,
    EvaluationRecord,
    Grade,
    Pending,
    Standing,
)
from holdfast.runtime.managed.evaluating import Past, evaluate, recorded
from holdfast.runtime.managed.evidence import KNOWN_ALREADY, Told, told
from holdfast.runtime.managed.grading import grade
from holdfast.runtime.managed.ground import Ground

_RECORDED = EventQuery(types=("outcome.evaluated",), limit=MOST_RECORDS)
_BUSY = "busy"


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A session's outcome and what was found of it."""

    session_id: str
    outcome: WantedOutcome | None
    outcome_event_id: str | None
    grade: Grade
    evaluation: Evaluation
    records: tuple[EvaluationRecord, ...]
    """The oldest first."""
    past: Past


class Judging:
    """Judges sessions of one agent, as one of them sees it."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def judged(self, session_id: str | None = None) -> Judged:
        """How far a session came; without an id, this one, whose shell counts as well."""
        session = await self._ground.session(session_id)
        events = await self._events(session)
        return self._judge(session, told(events, self._shows_work), await self._records(session))

    async def record(self) -> Judged | None:
        """Write down how far this session came at the end of its run; None: it has no outcome."""
        session = await self._ground.session()
        managed = session.state.managed
        if managed is None or managed.outcome_fingerprint is None or self._ground.log is None:
            return None
        events = await self._events(session)
        before = await self._records(session)
        found = self._judge(session, told(events, self._shows_work), before)
        at = self._ground.clock.now().isoformat()
        after = recorded(found.evaluation, found.grade, found.past, at)
        if after == before:
            return found
        await self._ground.log.append([OutcomeEvaluated(record=after[-1])], in_run=False)
        return msgspec.structs.replace(found, records=after)

    def _judge(self, session: Session, said: Told, records: tuple[EvaluationRecord, ...]) -> Judged:
        other = None if session.id == self._ground.session_id else session.id
        state = session.state
        graded = grade(
            Standing(
                outcome=said.outcome,
                session_id=other,
                title=state.title,
                pending=_pending(session),
                stop_reason=_rests(said.stop_reason, session),
                sleeps=bool(state.wakes),
                last_wake_id=said.last_wake_id,
                evidence=said.evidence,
            )
        )
        past = Past(
            outcome=said.outcome,
            wake_id=said.last_wake_id,
            records=records,
            session={} if other is None else {"session_id": other},
        )
        live = self._ground.live_shell() if other is None else None
        busy = live is not None and live.status == _BUSY
        return Judged(
            session_id=session.id,
            outcome=said.outcome,
            outcome_event_id=said.outcome_event_id,
            grade=graded,
            evaluation=evaluate(graded, said.last_wake, past, busy=busy),
            records=records,
            past=past,
        )

    async def _events(self, session: Session) -> Sequence[Event]:
        """Everything since the outcome was defined; without one, the end."""
        stores = await self._ground.stores()
        managed = session.state.managed
        defined = None if managed is None else managed.outcome_event_id
        query = EventQuery(after=defined) if defined else EventQuery(limit=MOST_EVENTS)
        if defined is None:
            return await stores.journal.find(session.id, query)
        (first, *_) = await stores.journal.find(
            session.id, EventQuery(around=defined, before_limit=0, after_limit=0, limit=1)
        )
        found: list[Event] = [first]
        while page := await stores.journal.events(session.id, after=found[-1].sequence):
            found += page
        return found

    async def _records(self, session: Session) -> tuple[EvaluationRecord, ...]:
        stores = await self._ground.stores()
        found = await stores.journal.find(session.id, _RECORDED)
        kept: dict[tuple[str, str], EvaluationRecord] = {}
        for event in found:
            if isinstance(event.payload, OutcomeEvaluated):
                record = event.payload.record
                kept.pop((record.wake_id, record.outcome_fingerprint), None)
                kept[record.wake_id, record.outcome_fingerprint] = record
        return tuple(kept.values())

    def _shows_work(self, name: str) -> bool:
        """Whether what a tool answers may show that something was done."""
        tool = self._ground.tool(name)
        return tool is not None and KNOWN_ALREADY.isdisjoint(tool.effects)


def _rests(reason: StopReason, session: Session) -> StopReason:
    state = session.state
    return state.stop_reason if state.stop_reason == "requires_action" else reason


def _pending(session: Session) -> Pending | None:
    state = session.state
    if state.confirmation is not None:
        return Pending(kind="tool_confirmation", tool_name=state.confirmation.tool_name)
    if state.custom is not None:
        return Pending(kind="custom_tool", tool_name=state.custom.name)
    return None
