"""The conversation as rows: messages and their parts, as each event adds to them.

A pure consequence of the events before: ids come from the event that made a row, numbers from the
state. What may be appended at all was decided before.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from holdfast.contract.events import (
    AgentChunk,
    AgentMessage,
    ApprovalAnswered,
    ApprovalAsked,
    ApprovalWithdrawn,
    CallAsked,
    CallIntended,
    CallSettled,
    ChildAnswered,
    ChildWaits,
    CustomToolResult,
    CustomToolUse,
    EventsProcessed,
    InquiryAnswered,
    InquiryAsked,
    ModelReplied,
    Payload,
    UserMessage,
)
from holdfast.record import streaming
from holdfast.record.codec import Stored
from holdfast.record.conversation import (
    answer_begun,
    call_part,
    changed_part,
    end_message,
    move_call,
    new_message,
    new_part,
    open_call,
    written_again,
)
from holdfast.record.parts import (
    TOOL_PREFIX,
    Approval,
    TextPart,
    ToolPart,
    tool_part,
    with_input,
    with_output,
)
from holdfast.record.rows import Draft, Marked

Projection: TypeAlias = Callable[[Draft, Stored, Any], None]
"""Puts the rows that an event makes or changes. The payload is of the kind it is found by."""


def project(draft: Draft, row: Stored, payload: Payload) -> None:
    """What one more event does to the conversation."""
    projection = PROJECTIONS.get(type(payload))
    if projection is not None:
        projection(draft, row, payload)


def _user_message(draft: Draft, row: Stored, said: UserMessage) -> None:
    new_message(draft, row, "user")
    new_part(draft, row, TextPart(type="text", text=said.message))
    end_message(draft)


def _agent_message(draft: Draft, row: Stored, said: AgentMessage) -> None:
    """What was streamed before is there already: only what was not is added."""
    answer_begun(draft, row)
    if said.message and not draft.state.chat.streamed:
        new_part(draft, row, TextPart(type="text", text=said.message))
    end_message(draft)


def _chunk(draft: Draft, row: Stored, said: AgentChunk) -> None:
    piece = streaming.piece_of(said.chunk)
    if piece is not None:
        streaming.add_piece(draft, row, piece)


class _Reply(msgspec.Struct, frozen=True):
    """What is wanted of a model's reply."""

    text: str | None = None
    calls: tuple[object, ...] | None = None


def words_before_calls(said: ModelReplied) -> str | None:
    """What a model said beside the calls it asked for. Without calls, an agent's message says it.

    None: nothing, or it replied in a form of another's.
    """
    try:
        reply = msgspec.convert(said.reply, _Reply)
    except msgspec.ValidationError:
        return None
    return reply.text or None if reply.calls else None


def _replied(draft: Draft, row: Stored, said: ModelReplied) -> None:
    """Words before calls stand before them; what was streamed is there already."""
    words = words_before_calls(said)
    if words is None:
        return
    answer_begun(draft, row)
    if not draft.state.chat.streamed:
        new_part(draft, row, TextPart(type="text", text=words))
    # What the model says next may come otherwise than this did.
    draft.state = replace(draft.state, chat=replace(draft.state.chat, streamed=False))


def _call_asked(draft: Draft, row: Stored, said: CallAsked) -> None:
    answer_begun(draft, row)
    part = ToolPart(
        type=TOOL_PREFIX + said.tool,
        tool_call_id=said.call_id,
        state="input-available",
        model_call_id=said.model_call_id,
    )
    part = with_input(part, said.arguments)
    begun = call_part(draft, said.call_id)
    if begun is None:
        open_call(draft, new_part(draft, row, part), said.call_id, "asked")
        return
    # Its input was streamed: the part stays the one that was begun.
    part = replace(part, type=tool_part(begun).type)
    draft.put_part(written_again(begun, row, part))
    move_call(draft, said.call_id, replace(draft.state.calls[said.call_id], stage="asked"))


def _approval_asked(draft: Draft, row: Stored, said: ApprovalAsked) -> None:
    asked = Approval(id=said.approval_id)
    change = partial(replace, state="approval-requested", approval=asked)
    changed_part(draft, row, said.call_id, change)
    call = draft.state.calls[said.call_id]
    waiting = replace(call, stage="waiting", approval_id=said.approval_id)
    move_call(draft, said.call_id, waiting)


def _approval_answered(draft: Draft, row: Stored, said: ApprovalAnswered) -> None:
    answer = Approval(id=said.approval_id, approved=said.allowed, reason=said.note)
    change = partial(replace, state="approval-responded", approval=answer)
    changed_part(draft, row, said.call_id, change)
    call = draft.state.calls[said.call_id]
    move_call(draft, said.call_id, replace(call, stage="answered", allowed=said.allowed))


def _approval_withdrawn(draft: Draft, row: Stored, said: ApprovalWithdrawn) -> None:
    """For whoever looks on it is answered; the call is where it was before it was asked about."""
    answer = Approval(id=said.approval_id, approved=True, reason=said.reason)
    change = partial(replace, state="approval-responded", approval=answer)
    changed_part(draft, row, said.call_id, change)
    move_call(draft, said.call_id, replace(draft.state.calls[said.call_id], stage="asked"))


def _intended(draft: Draft, _row: Stored, said: CallIntended) -> None:
    move_call(draft, said.call_id, replace(draft.state.calls[said.call_id], stage="intended"))


def _inquiry_asked(draft: Draft, _row: Stored, said: InquiryAsked) -> None:
    """Its part stays as it is: the input is there, and the output is not."""
    several = tuple(one.multi_select for one in said.questions)
    call = draft.state.calls[said.call_id]
    move_call(draft, said.call_id, replace(call, stage="inquiring", inquires=several))


def _inquiry_answered(draft: Draft, _row: Stored, said: InquiryAnswered) -> None:
    move_call(draft, said.call_id, replace(draft.state.calls[said.call_id], stage="replied"))


def _custom_used(draft: Draft, _row: Stored, said: CustomToolUse) -> None:
    """A call of a tool of the application's waits for it; what a directive asks for is no call."""
    call = draft.state.calls.get(said.request_id)
    if call is not None:
        move_call(draft, said.request_id, replace(call, stage="inquiring"))


def _custom_result(draft: Draft, _row: Stored, said: CustomToolResult) -> None:
    call = draft.state.calls.get(said.request_id)
    if call is not None:
        move_call(draft, said.request_id, replace(call, stage="replied"))


def _child_waits(draft: Draft, _row: Stored, said: ChildWaits) -> None:
    call = draft.state.calls[said.call_id]
    waits = replace(call, stage="inquiring", child=said.child_session_id)
    move_call(draft, said.call_id, waits)


def _child_answered(draft: Draft, _row: Stored, said: ChildAnswered) -> None:
    move_call(draft, said.call_id, replace(draft.state.calls[said.call_id], stage="replied"))


def _settled(draft: Draft, row: Stored, said: CallSettled) -> None:
    changed_part(draft, row, said.call_id, partial(with_output, envelope=said.envelope))
    move_call(draft, said.call_id, None)


def _processed(draft: Draft, row: Stored, said: EventsProcessed) -> None:
    draft.marked.append(Marked(row.micros, draft.row, said.event_ids))


PROJECTIONS: Mapping[type[Payload], Projection] = {
    UserMessage: _user_message,
    AgentMessage: _agent_message,
    AgentChunk: _chunk,
    ModelReplied: _replied,
    CallAsked: _call_asked,
    ApprovalAsked: _approval_asked,
    ApprovalAnswered: _approval_answered,
    ApprovalWithdrawn: _approval_withdrawn,
    CallIntended: _intended,
    InquiryAsked: _inquiry_asked,
    InquiryAnswered: _inquiry_answered,
    CustomToolUse: _custom_used,
    CustomToolResult: _custom_result,
    ChildWaits: _child_waits,
    ChildAnswered: _child_answered,
    CallSettled: _settled,
    EventsProcessed: _processed,
}
"""By kind. What is not here leaves the conversation as it is."""
