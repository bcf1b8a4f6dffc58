"""Pieces of a message that come one by one, as the AI SDK's stream of chunks has them.

A piece that is not understood, or that belongs to nothing, is passed over.
"""

from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from holdfast.contract.json_value import JsonObject
from holdfast.record.codec import Stored
from holdfast.record.conversation import new_part, open_call, written_again
from holdfast.record.parts import TOOL_PREFIX, TextPart, ToolPart, text_part, tool_part
from holdfast.record.rows import Draft


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


Piece: TypeAlias = _Begun | _More | _Ended | _InputBegun | _MoreInput

_KINDS: dict[str, type[Piece]] = {
    "text-start": _Begun,
    "reasoning-start": _Begun,
    "text-delta": _More,
    "reasoning-delta": _More,
    "text-end": _Ended,
    "reasoning-end": _Ended,
    "tool-input-start": _InputBegun,
    "tool-input-delta": _MoreInput,
}


def piece_of(chunk: JsonObject) -> Piece | None:
    """What a chunk adds to a message; None: nothing."""
    kind = _KINDS.get(str(chunk.get("type")))
    try:
        return None if kind is None else msgspec.convert(chunk, kind)
    except msgspec.ValidationError:
        return None


def add_piece(draft: Draft, row: Stored, piece: Piece) -> None:
    """Begin a part, or write it again with more."""
    match piece:
        case _Begun():
            _begin(draft, row, piece)
        case _InputBegun():
            _begin_input(draft, row, piece)
        case _MoreInput():
            _go_on_with_input(draft, row, piece)
        case _More() | _Ended():
            _go_on(draft, row, piece)


def _begin(draft: Draft, row: Stored, piece: _Begun) -> None:
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
