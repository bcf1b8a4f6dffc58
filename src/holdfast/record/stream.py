"""A conversation as the AI SDK's stream of message chunks, worked out from rows alone.

The same rows give the same bytes: inputs and answers are passed on as they are stored, and nothing
is measured, run or made up. How the chunks travel is not known here.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import msgspec

from holdfast.contract.archive import Message
from holdfast.contract.json_value import JsonObject
from holdfast.record.parts import ABORT, TOOL_PREFIX, OtherPart, TextPart, ToolPart, Written, read
from holdfast.record.rows import Role

DONE = "[DONE]"
"""What ends a stream of server-sent events."""

_ASKED = frozenset({"approval-requested", "approval-responded"})
_USER: JsonObject = {"role": "user"}


class Chunk(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", gc=False
):
    """One step of a message. Only the fields that its kind has are given."""

    type: str
    message_id: str | None = None
    message_metadata: JsonObject | None = None
    id: str | None = None
    delta: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    input_text_delta: str | None = None
    input: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    approval_id: str | None = None
    output: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error_text: str | None = None


class WholeChunk(msgspec.Struct, frozen=True):
    """A part that is its own chunk: a file, a source, data."""

    type: str
    said: JsonObject


AnyChunk: TypeAlias = Chunk | WholeChunk

FINISH = Chunk(type="finish")
ABORTED = Chunk(type="abort")

_encode = msgspec.json.Encoder(order="deterministic").encode


def text_of(chunk: AnyChunk) -> str:
    """A chunk as JSON on one line."""
    return _encode(chunk.said if isinstance(chunk, WholeChunk) else chunk).decode()


def server_sent(text: str) -> str:
    """As an event that a server sends: it ends with the line feed of the blank line behind it."""
    return f"data: {text}\n"


def lowered(messages: Iterable[Message]) -> Iterator[AnyChunk]:
    """The chunks that tell these messages, each from its start to its end."""
    for message in messages:
        yield started(message.id, message.role)
        parts = [(part.id, read(part.type, part.text)) for part in message.parts]
        for part_id, part in parts:
            yield from steps(part_id, None, part)
        if not any(part.type == ABORT for _, part in parts):
            yield FINISH


def started(message_id: str, role: Role) -> Chunk:
    """A message begins. The protocol knows the agent's alone: a person's says whose it is."""
    told = _USER if role == "user" else None
    return Chunk(type="start", message_id=message_id, message_metadata=told)


def steps(part_id: str, before: Written | None, after: Written) -> Iterator[AnyChunk]:
    """What leads from a part as it was told (None: not yet) to what it is."""
    match after:
        case TextPart():
            yield from _text(part_id, before if isinstance(before, TextPart) else None, after)
        case ToolPart():
            yield from _tool(before if isinstance(before, ToolPart) else None, after)
        case OtherPart(type=kind, said=said):
            yield ABORTED if kind == ABORT else WholeChunk(kind, said)


def _text(part_id: str, before: TextPart | None, after: TextPart) -> Iterator[Chunk]:
    name = part_id if after.id is None else after.id
    so_far = "" if before is None else before.text
    if before is None:
        yield Chunk(type=f"{after.type}-start", id=name)
    if len(after.text) > len(so_far):
        yield Chunk(type=f"{after.type}-delta", id=name, delta=after.text[len(so_far) :])
    if after.state == "done":
        yield Chunk(type=f"{after.type}-end", id=name)


def _tool(before: ToolPart | None, after: ToolPart) -> Iterator[Chunk]:
    call_id = after.tool_call_id
    yield from _input(before, after)
    was_asked = before is not None and before.state in _ASKED
    if after.state in _ASKED and not was_asked and after.approval is not None:
        approval = after.approval.id
        yield Chunk(type="tool-approval-request", approval_id=approval, tool_call_id=call_id)
    match after.state:
        case "output-available":
            yield Chunk(type="tool-output-available", tool_call_id=call_id, output=after.output)
        case "output-error":
            told = "" if after.error_text is msgspec.UNSET else after.error_text
            yield Chunk(type="tool-output-error", tool_call_id=call_id, error_text=told)
        case "output-denied":
            yield Chunk(type="tool-output-denied", tool_call_id=call_id)
        case _:
            return


def _input(before: ToolPart | None, after: ToolPart) -> Iterator[Chunk]:
    """What was sent; where it is no JSON, as the text that came. It is never made up."""
    call_id, name = after.tool_call_id, after.type.removeprefix(TOOL_PREFIX)
    if after.input is not msgspec.UNSET:
        if before is None or before.input is msgspec.UNSET:
            given = after.input
            yield Chunk(
                type="tool-input-available", tool_call_id=call_id, tool_name=name, input=given
            )
        return
    so_far = "" if before is None or before.raw_input is msgspec.UNSET else before.raw_input
    now = "" if after.raw_input is msgspec.UNSET else after.raw_input
    if before is None or not now.startswith(so_far):
        so_far = ""  # what came piece by piece was not what was sent in the end
        yield Chunk(type="tool-input-start", tool_call_id=call_id, tool_name=name)
    if len(now) > len(so_far):
        yield Chunk(
            type="tool-input-delta", tool_call_id=call_id, input_text_delta=now[len(so_far) :]
        )
