"""What waits for a run, as events add up to it: words of people, queued wakes, a deferral.

A pure sum, as `fold` is. Who runs a session, and when, is not known here.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec.structs import replace

from holdfast.contract.events import (
    ApprovalAnswered,
    InquiryAnswered,
    Payload,
    SpanCompleted,
)
from holdfast.contract.session_state import SessionState
from holdfast.contract.wake_events import (
    DirectiveTaken,
    QueuedWake,
    WakeDeferred,
    WakeQueued,
    WakesCompleted,
)
from holdfast.record.codec import Stored, micros_of

Fold: TypeAlias = Callable[[SessionState, Stored, Any], SessionState]
"""The state after an event. The payload is of the kind it is found by."""


def with_word(state: SessionState, event_id: str) -> SessionState:
    """Somebody said something that a run has to take into account."""
    return undeferred(replace(state, pending=(*state.pending, event_id)))


def without_words(state: SessionState, done: frozenset[str]) -> SessionState:
    """It was taken into account."""
    left = tuple(one for one in state.pending if one not in done)
    return state if len(left) == len(state.pending) else replace(state, pending=left)


def undeferred(state: SessionState) -> SessionState:
    """A person spoke: what failed before is tried again at once, and its failures are forgotten.

    Whoever speaks expects to be heard, and may have put right what was wrong. They are asked again
    by whatever fails again.
    """
    if not (state.deferred_until or state.attempts):
        return state
    return replace(state, deferred_until=0, attempts=0)


def run_ended(state: SessionState, said: SpanCompleted) -> SessionState:
    """A run that did what it could, or stopped to be answered, is no failure."""
    return state if said.result == "error" else undeferred(state)


def _answered(state: SessionState, row: Stored, said: ApprovalAnswered) -> SessionState:
    """Whoever answers the question itself has decided over the request to confirm, too."""
    asked = state.confirmation
    if asked is not None and asked.id == said.approval_id and asked.answered_by is None:
        state = replace(state, confirmation=replace(asked, answered_by=row.id))
    return state if said.by is None else undeferred(state)


def _replied(state: SessionState, _row: Stored, _said: InquiryAnswered) -> SessionState:
    return undeferred(state)


def is_same_wake(queued: QueuedWake, said: WakeQueued) -> bool:
    """Whether one that is queued stands for another that comes."""
    same_key = said.dedupe_key is not None and said.dedupe_key == queued.dedupe_key
    return same_key or said.queued_wake_id == queued.id


def _queued(state: SessionState, row: Stored, said: WakeQueued) -> SessionState:
    """What is queued already under the same key stays as it is."""
    if any(is_same_wake(one, said) for one in state.wakes):
        return state
    wake = QueuedWake(
        id=said.queued_wake_id,
        created_micros=row.micros,
        due_micros=micros_of(said.due_at),
        reason=said.reason,
        note=said.note,
        dedupe_key=said.dedupe_key,
        priority=said.priority,
    )
    return replace(state, wakes=(*state.wakes, wake))


def _completed(state: SessionState, _row: Stored, said: WakesCompleted) -> SessionState:
    done = frozenset(said.queued_wake_ids)
    return replace(state, wakes=tuple(one for one in state.wakes if one.id not in done))


def _deferred(state: SessionState, _row: Stored, said: WakeDeferred) -> SessionState:
    return replace(state, deferred_until=micros_of(said.until), attempts=said.attempt)


def _directed(state: SessionState, _row: Stored, said: DirectiveTaken) -> SessionState:
    return replace(state, continues=state.continues + 1 if said.outcome == "continue" else 0)


WAITING_FOLDS: Mapping[type[Payload], Fold] = {
    ApprovalAnswered: _answered,
    InquiryAnswered: _replied,
    WakeQueued: _queued,
    WakesCompleted: _completed,
    WakeDeferred: _deferred,
    DirectiveTaken: _directed,
}
"""By kind; what people say to the agent is in `fold`, as it does more than wait."""
