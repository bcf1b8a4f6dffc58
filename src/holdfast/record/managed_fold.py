"""What events say of a session's setup and outcome, as it adds up. A pure sum, as `fold` is.

A session that has neither is spared all of it.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from holdfast.contract.events import Payload, SpanCompleted, WantedOutcome
from holdfast.contract.managed_events import ManagedState, OutcomeEvaluated, SetupDescribed
from holdfast.contract.outcomes import outcome_fingerprint
from holdfast.contract.session_state import SessionState
from holdfast.record.codec import Stored
from holdfast.record.waiting import Fold

LONGEST_SUMMARY = 400
"""Characters of what a run said at its end: the whole is in its events."""

_NOTHING = ManagedState()


def with_outcome(state: SessionState, row: Stored, outcome: WantedOutcome) -> SessionState:
    """Something is to come of it. The same outcome, defined again, keeps what was found of it."""
    known = outcome_fingerprint(outcome)
    managed = state.managed or _NOTHING
    if managed.outcome_fingerprint != known:
        managed = replace(managed, evaluated=None, evaluations=0)
    managed = replace(
        managed,
        outcome_title=outcome.title,
        outcome_fingerprint=known,
        outcome_event_id=row.id,
        success_criteria=outcome.success_criteria,
    )
    return replace(state, managed=managed)


def run_rested(state: SessionState, row: Stored, said: SpanCompleted) -> SessionState:
    """A run has ended."""
    if state.managed is None:
        return state
    managed = replace(
        state.managed,
        last_wake_id=row.wake_id,
        rested_at=row.micros,
        summary=(said.summary or "")[:LONGEST_SUMMARY],
        produced_event_id=row.id,
    )
    return replace(state, managed=managed)


def _described(state: SessionState, _row: Stored, said: SetupDescribed) -> SessionState:
    managed = replace(
        state.managed or _NOTHING,
        setup_fingerprint=said.fingerprint,
        resource_contract_fingerprint=said.resource_contract_fingerprint,
    )
    return replace(state, managed=managed)


def _evaluated(state: SessionState, _row: Stored, said: OutcomeEvaluated) -> SessionState:
    """A second one for the same run stands in place of the first."""
    managed = state.managed
    if managed is None or managed.outcome_fingerprint != said.record.outcome_fingerprint:
        return state
    before = managed.evaluated
    again = before is not None and before.wake_id == said.record.wake_id
    count = managed.evaluations + (not again)
    return replace(state, managed=replace(managed, evaluated=said.record, evaluations=count))


MANAGED_FOLDS: Mapping[type[Payload], Fold] = {
    SetupDescribed: _described,
    OutcomeEvaluated: _evaluated,
}
"""By kind."""
