"""Where a session stands, by its journal: its checkpoint, and the same in words for its notes.

Computed whenever it is asked for; nothing of it is kept.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import msgspec

from holdfast.contract.events import (
    AgentMessage,
    EventsProcessed,
    ModelRequested,
    OutcomeDefined,
    Payload,
    SpanCompleted,
    WantedOutcome,
)
from holdfast.contract.journal import EventQuery, Journal, Session
from holdfast.contract.managed.memory import Checkpoint, EventCursor, WakeToCome
from holdfast.contract.managed_events import ManagedState, OutcomeEvaluated
from holdfast.contract.outcomes import MOST_RECORDS, EvaluationRecord
from holdfast.contract.session_state import SessionState
from holdfast.contract.wake_events import DirectiveTaken, QueuedWake

NEWEST_EVENTS = 10
_SAID = EventQuery(types=("agent.message", "agent.directive"), limit=4)
_PROCESSED = EventQuery(types=("session.events_processed",), limit=1)
_ASKED = EventQuery(types=("model.requested",), limit=1)
_SPANS = EventQuery(types=("span.completed",), limit=200)
_EVALUATED = EventQuery(types=("outcome.evaluated",), limit=2 * MOST_RECORDS)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_LINE = 400
_Said = TypeVar("_Said", bound=Payload)


class _LastRun(msgspec.Struct, frozen=True):
    """The newest run that has ended."""

    wake_id: str | None = None
    summary: str | None = None
    last_event_id: str | None = None


async def checkpoint_of(journal: Journal, session: Session) -> Checkpoint:
    """Where it stands."""
    state = session.state
    managed = state.managed or ManagedState()
    said = [one.payload for one in await journal.find(session.id, _SAID)]
    run = await _last_run(journal, session.id, managed)
    message = _last(said, AgentMessage)
    directive = _last(said, DirectiveTaken)
    due = min((one.due_micros for one in state.wakes), default=None)
    newest = await journal.events(session.id, after=max(session.sequence - NEWEST_EVENTS, 0))
    return Checkpoint(
        last_wake_id=run.wake_id,
        last_event_ids=tuple(one.id for one in newest),
        event_cursor=EventCursor(
            last_context_event_id=await _told_through(journal, session.id),
            last_processed_event_id=await _processed(journal, session.id),
            last_produced_event_id=run.last_event_id,
        ),
        last_outcome=None if directive is None else directive.outcome,
        last_summary=run.summary or (None if message is None else message.summary or None),
        response_message=None if message is None else message.message,
        next_wake_at=None if due is None else _moment(due),
        consecutive_follow_ups=state.continues,
        active_outcome=await _outcome(journal, session.id, managed),
        queued_wakes=tuple(map(_wake, state.wakes)),
        stop_reason=state.stop_reason,
        last_agent_setup_fingerprint=managed.setup_fingerprint,
        outcome_evaluation_history=await _evaluations(journal, session.id, managed),
    )


def account(state: SessionState, found: Checkpoint) -> str:
    """What a session is about, for its model and for people."""
    return "\n".join(("# Session state", "", *_about(state, found), *_open_loop(state)))


def under_way(state: SessionState, found: Checkpoint) -> str:
    """What of it is under way."""
    said = _bullet("Last words", found.response_message)
    return "\n".join(("# Working buffer", "", *said, *_open_loop(state)))


def _about(state: SessionState, found: Checkpoint) -> Iterator[str]:
    yield f"- Status: {state.status}; stop reason: {found.stop_reason}"
    yield from _bullet("Title", state.title)
    outcome = found.active_outcome
    if outcome is not None:
        yield from _bullet("Outcome", outcome.title)
        yield from _bullet("Detail", outcome.detail)
        yield from (f"  {line}" for one in outcome.success_criteria for line in _bullet("To", one))
    yield from _bullet("Last summary", found.last_summary)


def _open_loop(state: SessionState) -> Iterator[str]:
    """What waits, and for whom."""
    lines = list(_waiting(state))
    yield from ("", "## Open loop", "", *(lines or ["- Nothing waits."]))


def _waiting(state: SessionState) -> Iterator[str]:
    if state.confirmation is not None:
        yield f"- A person has to confirm {state.confirmation.tool_name}."
    if state.custom is not None:
        yield f"- The application has to run {state.custom.name}."
    if state.pending:
        yield f"- {len(state.pending)} words were not taken into account yet."
    for wake in state.wakes:
        yield from _bullet(f"Goes on at {_moment(wake.due_micros)}", wake.note or wake.reason)
    if state.children:
        yield f"- {len(state.children)} subagents are at work."


def _bullet(name: str, said: str | None) -> Iterator[str]:
    """One line, whatever was said."""
    flat = " ".join((said or "").split())[:_LONGEST_LINE]
    if flat:
        yield f"- {name}: {flat}"


def _last(said: Sequence[Payload], kind: type[_Said]) -> _Said | None:
    return next((one for one in reversed(said) if isinstance(one, kind)), None)


async def _last_run(journal: Journal, session_id: str, managed: ManagedState) -> _LastRun:
    if managed.last_wake_id is not None:
        return _LastRun(managed.last_wake_id, managed.summary or None, managed.produced_event_id)
    for event in reversed(await journal.find(session_id, _SPANS)):
        said = event.payload
        if isinstance(said, SpanCompleted) and said.span_kind == "wake":
            return _LastRun(event.wake_id, said.summary, event.id)
    return _LastRun()


async def _told_through(journal: Journal, session_id: str) -> str | None:
    for asked in await journal.find(session_id, _ASKED):
        if isinstance(asked.payload, ModelRequested) and asked.payload.through > 0:
            through = asked.payload.through
            found = await journal.events(session_id, after=through - 1, limit=1)
            return found[0].id if found else None
    return None


async def _processed(journal: Journal, session_id: str) -> str | None:
    for event in await journal.find(session_id, _PROCESSED):
        if isinstance(event.payload, EventsProcessed) and event.payload.event_ids:
            return event.payload.event_ids[-1]
    return None


async def _outcome(
    journal: Journal, session_id: str, managed: ManagedState
) -> WantedOutcome | None:
    if managed.outcome_event_id is None:
        return None
    query = EventQuery(around=managed.outcome_event_id, before_limit=0, after_limit=0, limit=1)
    for event in await journal.find(session_id, query):
        if isinstance(event.payload, OutcomeDefined):
            return event.payload.outcome
    return None


async def _evaluations(
    journal: Journal, session_id: str, managed: ManagedState
) -> tuple[EvaluationRecord, ...]:
    if managed.outcome_event_id is None:
        return ()
    kept: dict[tuple[str, str], EvaluationRecord] = {}
    for event in await journal.find(session_id, _EVALUATED):
        if isinstance(event.payload, OutcomeEvaluated):
            record = event.payload.record
            kept[record.wake_id, record.outcome_fingerprint] = record
    return tuple(kept.values())[-MOST_RECORDS:]


def _wake(one: QueuedWake) -> WakeToCome:
    return WakeToCome(
        queued_wake_id=one.id,
        due_at=_moment(one.due_micros),
        reason=one.reason,
        note=one.note,
        dedupe_key=one.dedupe_key,
        priority=one.priority,
    )


def _moment(micros: int) -> str:
    return (_EPOCH + timedelta(microseconds=micros)).isoformat()
