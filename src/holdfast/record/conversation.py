"""Messages and parts of a conversation: begun, added to, written again, ended."""

from collections.abc import Callable

from msgspec.structs import replace

from holdfast.contract.session_state import CallStage, ChatCursor, OpenCall
from holdfast.record.codec import Stored
from holdfast.record.parts import ToolPart, Written, tool_part, written
from holdfast.record.rows import Draft, MessageRow, PartRow, Role, text_suffix


def new_message(draft: Draft, row: Stored, role: Role) -> None:
    """Begin a message; parts go to it from now on."""
    number = draft.state.chat.messages
    made = MessageRow(
        id=f"msg_{text_suffix(row.id)}",
        session_id=row.session_id,
        number=number,
        role=role,
        created_at=row.micros,
        updated_at=row.micros,
    )
    draft.messages.append(made)
    draft.state = replace(draft.state, chat=ChatCursor(messages=number + 1, message_id=made.id))


def end_message(draft: Draft, *, aborted: bool = False) -> None:
    """No more parts go to it."""
    cursor = ChatCursor(messages=draft.state.chat.messages, aborted=aborted)
    draft.state = replace(draft.state, chat=cursor)


def answer_begun(draft: Draft, row: Stored) -> None:
    """What the agent does belongs to a message of its own."""
    if draft.state.chat.message_id is None:
        new_message(draft, row, "assistant")


def new_part(draft: Draft, row: Stored, part: Written) -> PartRow:
    """Add a part to the message that is being written."""
    cursor = draft.state.chat
    is_call = isinstance(part, ToolPart)
    kind = part.type.replace("\0", "\ufffd")  # no column holds it
    call_id, state = (part.tool_call_id, part.state) if is_call else (None, None)
    made = PartRow(
        *(f"prt_{text_suffix(row.id)}", cursor.message_id or "", row.session_id, cursor.parts),
        *(kind, written(part), call_id, state, row.micros, row.micros),
    )
    draft.add_part(made)
    draft.state = replace(draft.state, chat=replace(cursor, parts=cursor.parts + 1))
    return made


def written_again(row: PartRow, event: Stored, part: Written) -> PartRow:
    """The row of a part that says something else now."""
    state = part.state if isinstance(part, ToolPart) else None
    return PartRow(*row[:5], written(part), row.tool_call_id, state, row.created_at, event.micros)


def call_part(draft: Draft, call_id: str) -> PartRow | None:
    """The part of an open call."""
    call = draft.state.calls.get(call_id)
    return None if call is None else draft.part(call.message_id, call.part)


def open_call(draft: Draft, part: PartRow, call_id: str, stage: CallStage) -> None:
    """There is one more call without an answer."""
    call = OpenCall(part.message_id, part.number, stage)
    calls = {**draft.state.calls, call_id: call}
    last = max(draft.state.last_call, call_id)
    draft.state = replace(draft.state, calls=calls, last_call=last)


def move_call(draft: Draft, call_id: str, call: OpenCall | None) -> None:
    """It has come further; None: to its end."""
    calls = dict(draft.state.calls)
    calls.pop(call_id, None)
    if call is not None:
        calls[call_id] = call
    draft.state = replace(draft.state, calls=calls)


def changed_part(
    draft: Draft, row: Stored, call_id: str, change: Callable[[ToolPart], ToolPart]
) -> None:
    """Write a call's part again."""
    part = call_part(draft, call_id)
    if part is not None:
        draft.put_part(written_again(part, row, change(tool_part(part))))
