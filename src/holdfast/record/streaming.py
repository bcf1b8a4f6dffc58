"""Pieces of a message that come one by one, as the AI SDK's stream of chunks has them.

A piece that is not understood, or that belongs to nothing, is passed over: it begins no message.
"""

from typing import Literal, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from holdfast.contract.json_value import JsonObject
from holdfast.record.codec import Stored
from holdfast.record.conversation import (
    answer_begun,
    end_message,
    new_part,
    open_call,
    written_again,
)
from holdfast.record.parts import (
    ABORT,
    COMPACTION,
    TOOL_PREFIX,
    OtherPart,
    TextPart,
    ToolPart,
    text_part,
    tool_part,
)
from holdfast.record.rows import Draft


class _Message(msgspec.Struct, frozen=True):
    """A message begins or is broken off."""

    type: Literal["start", "abort"]


class _Begun(msgspec.Struct, frozen=True):
    """Text or reasoning begins, goes on or ends."""

    type: Literal["text-start", "reasoning-start"]
    id: str


class _More(msgspec.Struct, frozen=True):
    type: Literal["text-delta", "reasoning-delta"]
    id: str
    delta: str


class _Ended(msgspec.Struct, frozen=True):
    type: Literal["text-end", "reasoning-end"]
    id: str


class _InputBegun(msgspec.Struct, frozen=True, rename="camel"):
    """The input of a call begins or goes on."""

    type: Literal["tool-input-start"]
    tool_call_id: str
    tool_name: str


class _MoreInput(msgspec.Struct, frozen=True, rename="camel"):
    type: Literal["tool-input-delta"]
    tool_call_id: str
    input_text_delta: str


class _File(msgspec.Struct, frozen=True, rename="camel"):
    """What such a chunk has to have, to be a part."""

    type: Literal["file"]
    url: str
    media_type: str


class _Source(msgspec.Struct, frozen=True, rename="camel"):
    type: Literal["source-url"]
    source_id: str
    url: str


class _Document(msgspec.Struct, frozen=True, rename="camel"):
    type: Literal["source-document"]
    source_id: str
    media_type: str
    title: str


class _Data(msgspec.Struct, frozen=True):
    type: str
    data: object
    id: str | None = None
    transient: bool = False


class _Whole(NamedTuple):
    """A part that comes in one piece."""

    type: str
    said: JsonObject


Piece: TypeAlias = _Message | _Begun | _More | _Ended | _InputBegun | _MoreInput | _Whole

_KINDS: dict[str, type[msgspec.Struct]] = {
    "start": _Message,
    "abort": _Message,
    "text-start": _Begun,
    "reasoning-start": _Begun,
    "text-delta": _More,
    "reasoning-delta": _More,
    "text-end": _Ended,
    "reasoning-end": _Ended,
    "tool-input-start": _InputBegun,
    "tool-input-delta": _MoreInput,
    "file": _File,
    "source-url": _Source,
    "source-document": _Document,
}
_DATA = "data-"
_OURS = frozenset({ABORT, COMPACTION})


def piece_of(chunk: JsonObject) -> Piece | None:
    """What a chunk adds to a message; None: nothing."""
    kind = str(chunk.get("type"))
    is_data = kind.startswith(_DATA) and kind not in _OURS
    shape = _Data if is_data else _KINDS.get(kind)
    try:
        read = None if shape is None else msgspec.convert(chunk, shape)
    except msgspec.ValidationError:
        return None
    match read:
        case _Data(transient=True):
            return None
        case _Data() | _File() | _Source() | _Document():
            return _Whole(kind, chunk)
        case _Message() | _Begun() | _More() | _Ended() | _InputBegun() | _MoreInput():
            return read
        case _:
            return None


def add_piece(draft: Draft, row: Stored, piece: Piece) -> None:
    """Begin a part, or write it again with more. What was broken off gets nothing more."""
    if draft.state.chat.aborted and not (isinstance(piece, _Message) and piece.type == "start"):
        return
    match piece:
        case _Message():
            _begin_or_break_off(draft, row, piece)
        case _Begun():
            _begin(draft, row, piece)
        case _Whole():
            answer_begun(draft, row)
            new_part(draft, row, OtherPart(piece.type, piece.said))
        case _InputBegun():
            _begin_input(draft, row, piece)
        case _MoreInput():
            _go_on_with_input(draft, row, piece)
        case _More() | _Ended():
            _go_on(draft, row, piece)


def _begin_or_break_off(draft: Draft, row: Stored, piece: _Message) -> None:
    """A message that is broken off says so in a last part; calls that run are left alone."""
    if piece.type == "start":
        answer_begun(draft, row)
        return
    if draft.state.chat.message_id is not None:
        new_part(draft, row, OtherPart(ABORT, {"type": ABORT}))
    end_message(draft, aborted=True)


def _begin(draft: Draft, row: Stored, piece: _Begun) -> None:
    answer_begun(draft, row)
    kind = "text" if piece.type == "text-start" else "reasoning"
    part = new_part(draft, row, TextPart(type=kind, text="", state="streaming", id=piece.id))
    cursor = draft.state.chat
    cursor = replace(
        cursor,
        streams={**cursor.streams, f"{kind} {piece.id}": part.number},
        streamed=cursor.streamed or kind == "text",
    )
    draft.state = replace(draft.state, chat=cursor)


def _go_on(draft: Draft, row: Stored, piece: _More | _Ended) -> None:
    kind = piece.type.partition("-")[0]
    cursor = draft.state.chat
    number = cursor.streams.get(f"{kind} {piece.id}")
    if number is None or cursor.message_id is None:
        return
    found = draft.part(cursor.message_id, number)
    if found is None:
        return
    told = text_part(found)
    if isinstance(piece, _More):
        told = replace(told, text=told.text + piece.delta)
    else:
        told = replace(told, state="done")
        left = {name: part for name, part in cursor.streams.items() if part != number}
        draft.state = replace(draft.state, chat=replace(cursor, streams=left))
    draft.put_part(written_again(found, row, told))


def _begin_input(draft: Draft, row: Stored, piece: _InputBegun) -> None:
    call_id = piece.tool_call_id
    if call_id not in draft.state.calls and not draft.was_called(call_id):
        answer_begun(draft, row)
        part = ToolPart(
            type=TOOL_PREFIX + piece.tool_name,
            tool_call_id=piece.tool_call_id,
            state="input-streaming",
        )
        open_call(draft, new_part(draft, row, part), call_id, "streaming")


def _go_on_with_input(draft: Draft, row: Stored, piece: _MoreInput) -> None:
    call = draft.state.calls.get(piece.tool_call_id)
    if call is None or call.stage != "streaming":
        return
    found = draft.part(call.message_id, call.part)
    if found is None:
        return
    told = tool_part(found)
    so_far = "" if told.raw_input is msgspec.UNSET else told.raw_input
    told = replace(told, raw_input=so_far + piece.input_text_delta)
    draft.put_part(written_again(found, row, told))
