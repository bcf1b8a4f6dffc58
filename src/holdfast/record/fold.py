"""What events add up to: each kind changes the state of its session in a few lines, or not at all.

A pure sum: the same events give the same state, whoever adds them up and when. The conversation and
its calls are added up in `chat`.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from holdfast.contract.events import (
    ApprovalWithdrawn,
    CallIntended,
    CallSettled,
    ChildCreated,
    ChildIdle,
    ChildWaits,
    CustomToolResult,
    CustomToolUse,
    EventsProcessed,
    ModelReplied,
    OutcomeDefined,
    Payload,
    SessionClosed,
    SessionCreated,
    SpanCompleted,
    StatusChanged,
    StatusIdle,
    ToolConfirmation,
    ToolUse,
    UserInterrupt,
    UserMessage,
)
from holdfast.contract.session_state import (
    CarriedFiles,
    ConfirmationRequest,
    CustomRequest,
    SessionState,
)
from holdfast.contract.wake_events import WorkspaceKept, WorkspaceLost, WorkspaceStays
from holdfast.record.codec import Stored
from holdfast.record.managed_fold import MANAGED_FOLDS, run_rested, with_outcome
from holdfast.record.waiting import WAITING_FOLDS, Fold, run_ended, with_word, without_words

TITLE_CHARACTERS = 80


def folded(state: SessionState, row: Stored, payload: Payload) -> SessionState:
    """The state after one more event."""
    fold = FOLDS.get(type(payload))
    return state if fold is None else fold(state, row, payload)


def _created(_state: SessionState, _row: Stored, said: SessionCreated) -> SessionState:
    return SessionState(
        agent_id=said.agent_id,
        environment_id=said.environment_id,
        profile=said.profile,
        workspace=said.workspace,
        parent_id=said.parent_id,
        metadata=said.metadata,
        model=said.model,
    )


def _message(state: SessionState, row: Stored, said: UserMessage) -> SessionState:
    if state.title is None:
        first = said.message.strip().partition("\n")[0].rstrip()
        state = replace(state, title=first[:TITLE_CHARACTERS])
    return _runnable(state, row, said)


def _runnable(state: SessionState, row: Stored, _said: Payload) -> SessionState:
    """Something waits: there is something to do, unless it runs already or is over."""
    state = with_word(state, row.id)
    if state.status in {"running", "terminated", "rescheduling"}:
        return state
    return replace(state, status="rescheduling", stop_reason="rescheduling")


def _outcome_defined(state: SessionState, row: Stored, said: OutcomeDefined) -> SessionState:
    state = with_outcome(state, row, said.outcome)
    return state if said.known else _runnable(state, row, said)


def _confirmed(state: SessionState, row: Stored, said: ToolConfirmation) -> SessionState:
    if state.confirmation is not None:
        state = replace(state, confirmation=replace(state.confirmation, answered_by=row.id))
    return _runnable(state, row, said)


def _custom_result(state: SessionState, row: Stored, said: CustomToolResult) -> SessionState:
    if state.custom is not None:
        state = replace(state, custom=replace(state.custom, answered_by=row.id))
    return _runnable(state, row, said)


def _interrupted(state: SessionState, row: Stored, said: UserInterrupt) -> SessionState:
    state = replace(state, interrupts=(*state.interrupts, row.id))
    return _runnable(state, row, said)


def _used(state: SessionState, row: Stored, said: ToolUse) -> SessionState:
    """Without an output it waits to be confirmed; a custom request is then void."""
    if said.output is not None or said.request_id is None:
        return state
    asked = [one for one in state.calls.values() if one.approval_id == said.request_id]
    if any(one.stage != "waiting" for one in asked):
        return state  # somebody was quicker than whoever says that they are waited for
    request = ConfirmationRequest(
        id=said.request_id,
        tool_name=said.tool_name,
        ownership=said.ownership,
        permission_policy=said.permission_policy,
        input=said.input,
        requested_at=row.micros,
    )
    return replace(state, confirmation=request, custom=None)


def _settled(
    state: SessionState, _row: Stored, said: CallSettled | ApprovalWithdrawn
) -> SessionState:
    """A request to confirm a call is over once the call has its answer, however it got it, and
    when nobody has to decide over it any more."""
    asked, call = state.confirmation, state.calls.get(said.call_id)
    if asked is None or call is None or call.approval_id != asked.id:
        return state
    return replace(state, confirmation=None)


def _custom_used(state: SessionState, row: Stored, said: CustomToolUse) -> SessionState:
    request = CustomRequest(
        id=said.request_id, name=said.tool_name, input=said.input, requested_at=row.micros
    )
    return replace(state, custom=request)


def _processed(state: SessionState, _row: Stored, said: EventsProcessed) -> SessionState:
    """A request ends once its answer was taken into account; an interrupt ends them all."""
    done = frozenset(said.event_ids)
    stopped = not done.isdisjoint(state.interrupts)
    confirmation, custom = state.confirmation, state.custom
    if confirmation is not None and (stopped or confirmation.answered_by in done):
        confirmation = None
    if custom is not None and (stopped or custom.answered_by in done):
        custom = None
    left = tuple(one for one in state.interrupts if one not in done)
    state = replace(state, confirmation=confirmation, custom=custom, interrupts=left)
    return without_words(state, done)


def _child_begun(state: SessionState, _row: Stored, said: ChildCreated) -> SessionState:
    """One that lasts is looked after by itself."""
    if said.lasting or said.child_session_id in state.children:
        return state
    return replace(state, children=(*state.children, said.child_session_id))


def _child_rests(state: SessionState, _row: Stored, said: ChildIdle | ChildWaits) -> SessionState:
    left = tuple(one for one in state.children if one != said.child_session_id)
    return state if len(left) == len(state.children) else replace(state, children=left)


def _status(state: SessionState, _row: Stored, said: StatusChanged) -> SessionState:
    if said.to_status == "running":
        return replace(state, status="running", failed=False)
    return replace(state, status=said.to_status, stop_reason=said.to_status)


def _idle(state: SessionState, _row: Stored, said: StatusIdle) -> SessionState:
    stop = "requires_action" if said.reason == "requires_action" else "idle"
    return replace(state, status=stop, stop_reason=stop)


def _closed(state: SessionState, _row: Stored, _said: SessionClosed) -> SessionState:
    return replace(state, status="terminated", stop_reason="terminated")


def _span(state: SessionState, row: Stored, said: SpanCompleted) -> SessionState:
    if said.span_kind != "wake":
        return state
    state = replace(state, turns=state.turns + 1, failed=said.result == "error")
    return run_rested(run_ended(state, said), row, said)


def _replied(state: SessionState, _row: Stored, said: ModelReplied) -> SessionState:
    counted = {name: n for name, n in said.usage.items() if type(n) is int}
    usage = {name: state.usage.get(name, 0) + n for name, n in counted.items()}
    return replace(state, usage={**state.usage, **usage}) if counted else state


def _intended(state: SessionState, _row: Stored, _said: CallIntended) -> SessionState:
    """What it does to files that are carried is not kept yet."""
    files = state.files
    if files is None:
        return state
    return replace(state, files=replace(files, effects=files.effects + 1))


def _kept(state: SessionState, _row: Stored, said: WorkspaceKept) -> SessionState:
    return replace(
        state, files=CarriedFiles(snapshot=said.snapshot, path=said.path, effects=said.working)
    )


def _stays(state: SessionState, _row: Stored, said: WorkspaceStays) -> SessionState:
    before = None if state.files is None else state.files.snapshot
    return replace(state, files=CarriedFiles(snapshot=before, path=said.path, stays=said.place))


def _lost(state: SessionState, _row: Stored, said: WorkspaceLost) -> SessionState:
    return replace(state, files=CarriedFiles(snapshot=said.snapshot, path=said.path))


FOLDS: Mapping[type[Payload], Fold] = {
    SessionCreated: _created,
    UserMessage: _message,
    OutcomeDefined: _outcome_defined,
    UserInterrupt: _interrupted,
    ToolConfirmation: _confirmed,
    CustomToolResult: _custom_result,
    ToolUse: _used,
    CallSettled: _settled,
    ApprovalWithdrawn: _settled,
    CustomToolUse: _custom_used,
    EventsProcessed: _processed,
    ChildCreated: _child_begun,
    ChildIdle: _child_rests,
    ChildWaits: _child_rests,
    StatusChanged: _status,
    StatusIdle: _idle,
    SessionClosed: _closed,
    SpanCompleted: _span,
    ModelReplied: _replied,
    CallIntended: _intended,
    WorkspaceKept: _kept,
    WorkspaceStays: _stays,
    WorkspaceLost: _lost,
    **WAITING_FOLDS,
    **MANAGED_FOLDS,
}
"""By kind. What is not here leaves the state as it is."""
