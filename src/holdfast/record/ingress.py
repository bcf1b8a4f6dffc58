"""What may be appended: answers that fit a question, and steps of a call in their order.

Looked at inside of the transaction, so of two that come at once only one fits. What was not asked
for is refused whole, and nothing of it is kept.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    ApprovalWithdrawn,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    ChildAnswered,
    ChildWaits,
    CustomToolResult,
    InquiryAnswered,
    InquiryAsked,
    Payload,
    ToolConfirmation,
    ToolUse,
)
from holdfast.contract.journal import NotFitting
from holdfast.contract.person import misfit
from holdfast.contract.session_state import CallStage, OpenCall
from holdfast.contract.wake_events import WakeDeferred, WakeQueued
from holdfast.record.rows import Draft

Guard: TypeAlias = Callable[[Draft, Any], None]
"""Raises NotFitting. The payload is of the kind it is found by."""


def check(draft: Draft, payload: Payload) -> None:
    """Refuse what does not fit, by NotFitting."""
    guard = GUARDS.get(type(payload))
    if guard is not None:
        guard(draft, payload)


def _confirmation(draft: Draft, said: ToolConfirmation) -> None:
    _not_interrupted(draft, allows=said.allowed)
    pending = draft.state.confirmation
    _answer(
        draft,
        "tool confirmation",
        None if pending is None else (pending.id, pending.tool_name, pending.answered_by),
        (said.request_id, said.tool_name),
    )


def _not_interrupted(draft: Draft, *, allows: bool) -> None:
    """A person who stops an agent stops what it asked for: nothing of it may run behind that.

    Nothing begins to run that was allowed before, until the interrupt is taken into account; and
    what would be allowed afterwards does not count, which whoever allows it learns here. A refusal
    says the same as the interrupt, and fits. In a session without an agent there is nobody who
    takes interrupts into account.
    """
    if allows and draft.state.agent_id is not None and draft.state.interrupts:
        raise NotFitting(
            f"session {draft.row.id} was interrupted: what it asked for before is not run any more;"
            " tell it what to do instead"
        )


def _tool_use(draft: Draft, said: ToolUse) -> None:
    """One that waits to be confirmed stays until it is, or until somebody interrupts."""
    pending = draft.state.confirmation
    waits = said.output is None and said.request_id is not None
    if waits and pending is not None and pending.answered_by is None:
        raise NotFitting(
            f"session {draft.row.id} waits for a tool confirmation of {pending.id} already"
        )


def _custom_result(draft: Draft, said: CustomToolResult) -> None:
    pending = draft.state.custom
    _answer(
        draft,
        "custom tool",
        None if pending is None else (pending.id, pending.name, pending.answered_by),
        (said.request_id, said.tool_name),
    )


def _answer(
    draft: Draft, what: str, pending: tuple[str, str, str | None] | None, given: tuple[str, str]
) -> None:
    request_id, tool = given
    session = f"session {draft.row.id}"
    if pending is None:
        raise NotFitting(f"{session} does not have a pending {what} request for {tool}")
    if pending[:2] != given:
        raise NotFitting(f"{session}: pending {what} request does not match {request_id}/{tool}")
    if pending[2] is not None:
        noun = "custom tool result" if what == "custom tool" else what
        raise NotFitting(f"{session} already recorded a {noun} for {request_id}")


def _call_asked(draft: Draft, said: CallAsked) -> None:
    call = draft.state.calls.get(said.call_id)
    if call is not None and call.stage == "streaming":
        return
    may_be_old = said.call_id <= draft.state.last_call
    if call is not None or (may_be_old and draft.was_called(said.call_id)):
        raise NotFitting(f"the call {said.call_id} was asked for before")


def _approval_asked(draft: Draft, said: ApprovalAsked) -> None:
    _at_stage(draft, said.call_id, "be asked about", ("asked",))


def _approval_answered(draft: Draft, said: ApprovalAnswered) -> None:
    """A reply counts only for the question it names, while that waits."""
    _not_interrupted(draft, allows=said.allowed)
    _question_waits(draft, said.call_id, said.approval_id)


def _approval_withdrawn(draft: Draft, said: ApprovalWithdrawn) -> None:
    """A person who has answered was asked for good: their answer counts."""
    _question_waits(draft, said.call_id, said.approval_id)


def _question_waits(draft: Draft, call_id: str, approval_id: str) -> None:
    call = _known(draft, call_id)
    if call.approval_id != approval_id:
        raise NotFitting(f"the call {call_id} does not wait for approval {approval_id}")
    if call.stage == "waiting":
        return
    if call.allowed is None:
        raise NotFitting(f"approval {approval_id} was withdrawn: the rules allow the call by now")
    raise NotFitting(f"already recorded an answer to approval {approval_id}")


def _intended(draft: Draft, said: CallIntended) -> None:
    _not_interrupted(draft, allows=True)
    _at_stage(draft, said.call_id, "run", ("asked", "answered"))


def _refused(draft: Draft, said: CallRefused) -> None:
    stages: tuple[CallStage, ...] = ("asked", "waiting", "answered", "inquiring", "replied")
    _at_stage(draft, said.call_id, "be refused", stages)


def _inquiry_asked(draft: Draft, said: InquiryAsked) -> None:
    _at_stage(draft, said.call_id, "ask a person", ("intended",))


def _inquiry_answered(draft: Draft, said: InquiryAnswered) -> None:
    """A reply counts only for the call it names, while that waits, and if it answers all of it."""
    call = _known(draft, said.call_id)
    if call.stage == "replied":
        raise NotFitting(f"already recorded a reply to the inquiry of call {said.call_id}")
    if call.stage != "inquiring":
        raise NotFitting(f"the call {said.call_id} does not wait for a person's reply")
    problem = misfit(call.inquires, said.answers, was_skipped=said.skipped)
    if problem is not None:
        raise NotFitting(f"the reply does not fit the inquiry of call {said.call_id}: {problem}")


def _child_waits(draft: Draft, said: ChildWaits) -> None:
    _at_stage(draft, said.call_id, "wait for a session below", ("intended", "replied"))


def _child_answered(draft: Draft, said: ChildAnswered) -> None:
    call = _known(draft, said.call_id)
    if call.stage != "inquiring" or call.child != said.child_session_id:
        raise NotFitting(f"the call {said.call_id} does not wait for {said.child_session_id}")


def _settled(draft: Draft, said: CallSettled) -> None:
    _known(draft, said.call_id)


def _wake_queued(_draft: Draft, said: WakeQueued) -> None:
    _moment(said.due_at)


def _wake_deferred(_draft: Draft, said: WakeDeferred) -> None:
    _moment(said.until)


def _moment(given: datetime) -> None:
    if given.utcoffset() is None:
        raise NotFitting(f"{given.isoformat()} has no time zone; give it one, for example UTC")


def _at_stage(draft: Draft, call_id: str, what: str, stages: tuple[CallStage, ...]) -> None:
    stage = _known(draft, call_id).stage
    if stage not in stages:
        raise NotFitting(f"the call {call_id} cannot {what} any more: it is {stage} already")


def _known(draft: Draft, call_id: str) -> OpenCall:
    call = draft.state.calls.get(call_id)
    if call is not None:
        return call
    if draft.was_called(call_id):
        raise NotFitting(f"the call {call_id} has its answer already")
    raise NotFitting(f"session {draft.row.id} knows no call {call_id}")


GUARDS: Mapping[type[Payload], Guard] = {
    ToolUse: _tool_use,
    ToolConfirmation: _confirmation,
    CustomToolResult: _custom_result,
    CallAsked: _call_asked,
    ApprovalAsked: _approval_asked,
    ApprovalAnswered: _approval_answered,
    ApprovalWithdrawn: _approval_withdrawn,
    CallIntended: _intended,
    CallRefused: _refused,
    InquiryAsked: _inquiry_asked,
    InquiryAnswered: _inquiry_answered,
    ChildWaits: _child_waits,
    ChildAnswered: _child_answered,
    CallSettled: _settled,
    WakeQueued: _wake_queued,
    WakeDeferred: _wake_deferred,
}
"""By kind. What is not here always fits."""
