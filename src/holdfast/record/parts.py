"""The parts of messages as texts: what a chat row says, in the words of the AI SDK's messages.

A tool's part is written whole each time, with what it said before carried along. Nothing here
knows when a part changes.
"""

from typing import Literal, TypeAlias, cast

import msgspec

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.record.rows import PartRow

ToolState = Literal[
    "input-streaming",
    "input-available",
    "approval-requested",
    "approval-responded",
    "output-available",
    "output-error",
    "output-denied",
]

ENDED = frozenset({"output-available", "output-error", "output-denied"})
"""States of a call that has its answer."""
TOOL_PREFIX = "tool-"
ABORT = "data-abort"
"""The last part of a message that was broken off."""
COMPACTION = "data-compaction"
"""Reserved for the summary that stands for what was said before."""


class Approval(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A question about a call, and its answer."""

    id: str
    approved: bool | None = None
    reason: str | None = None


class ToolPart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A call of a tool, from its input to its output."""

    type: str
    tool_call_id: str
    state: ToolState
    input: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    raw_input: str | msgspec.UnsetType = msgspec.UNSET
    """What was sent, where it is not JSON."""
    output: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    """The envelope, byte for byte."""
    error_text: str | msgspec.UnsetType = msgspec.UNSET
    approval: Approval | None = None
    model_call_id: str | None = None


class TextPart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Text or reasoning."""

    type: Literal["text", "reasoning"]
    text: str
    state: Literal["streaming", "done"] = "done"
    id: str | None = None
    """What the stream calls it."""


class OtherPart(msgspec.Struct, frozen=True):
    """A file, a source or somebody's own data: kept as it came, and never written again."""

    type: str
    said: JsonObject


class _Told(msgspec.Struct, frozen=True):
    """What an envelope says at a glance."""

    ok: bool = False
    kind: str | None = None
    message: str | None = None


Written: TypeAlias = ToolPart | TextPart | OtherPart

_encode = msgspec.json.Encoder(order="deterministic").encode
_tool_part = msgspec.json.Decoder(ToolPart).decode
_text_part = msgspec.json.Decoder(TextPart).decode
_told = msgspec.json.Decoder(_Told).decode
_anything = msgspec.json.Decoder().decode
_TEXTS = frozenset({"text", "reasoning"})
_DENIED = frozenset({"rejected", "user_denied"})


def written(part: Written) -> str:
    """The text of a part."""
    return _encode(part.said if isinstance(part, OtherPart) else part).decode()


def read(kind: str, text: str) -> Written:
    """A part of any kind, read."""
    if kind.startswith(TOOL_PREFIX):
        return _tool_part(text)
    if kind in _TEXTS:
        return _text_part(text)
    return OtherPart(kind, cast("JsonObject", _anything(text)))


def tool_part(row: PartRow) -> ToolPart:
    """A tool's part, read."""
    return _tool_part(row.data)


def text_part(row: PartRow) -> TextPart:
    """A part of text, read."""
    return _text_part(row.data)


def with_input(part: ToolPart, arguments: str) -> ToolPart:
    """What was sent: JSON as it is, anything else as text."""
    try:
        _anything(arguments)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return msgspec.structs.replace(part, raw_input=arguments)
    return msgspec.structs.replace(part, input=msgspec.Raw(arguments.encode()))


def with_output(part: ToolPart, envelope: msgspec.Raw) -> ToolPart:
    """How it ended; what it said before it goes on saying."""
    told = _told(envelope)
    if told.ok:
        return msgspec.structs.replace(part, state="output-available", output=envelope)
    state = "output-denied" if told.kind in _DENIED else "output-error"
    text = told.message or ""
    return msgspec.structs.replace(part, state=state, output=envelope, error_text=text)


def plain(row: PartRow) -> JsonValue:
    """Everything a part says, as JSON."""
    return cast("JsonValue", _anything(row.data))
