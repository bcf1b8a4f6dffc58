"""What a run tells, as one line of JSON each: for other windows, and for programs that read along.

The form is stable. Every line is an object with a ``type``. An event has the form it has everywhere
(docs/sessions.md); what is told while it happens has a type that begins with ``live.``. Secrets
were taken out before.
"""

from typing import Annotated, TypeAlias

import msgspec

from holdfast.agent.place import Live, Sign
from holdfast.contract.events import Event
from holdfast.contract.json_value import JsonValue
from holdfast.contract.model import CallDelta, ReasoningDelta, TextDelta
from holdfast.contract.runtime import Progress
from holdfast.record.export import event_line
from holdfast.record.importing import UnreadableExport, read_event

Told: TypeAlias = Event | Live
"""What a run tells: events as they are written down, and what is told while it happens."""

LIVE = "live."
"""What the type of a line begins with that is kept nowhere."""


class UnreadableLine(ValueError):
    """A line that is nothing a run tells, or that a newer holdfast wrote."""


class _Line(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """What is told while it happens."""


class _Text(_Line, frozen=True, kw_only=True, tag="live.text"):
    text: str


class _Reasoning(_Line, frozen=True, kw_only=True, tag="live.reasoning"):
    text: str


class _Call(_Line, frozen=True, kw_only=True, tag="live.call"):
    index: int
    id: str
    name: str
    arguments: str


class _Progress(_Line, frozen=True, kw_only=True, tag="live.progress"):
    call_id: str
    message: str | None = None
    done: float | None = None
    total: float | None = None
    partial: JsonValue = None


class _Type(msgspec.Struct, frozen=True):
    type: Annotated[str, msgspec.Meta(min_length=1)]


_AnyLine: TypeAlias = _Text | _Reasoning | _Call | _Progress
_encode = msgspec.json.Encoder().encode
_type = msgspec.json.Decoder(_Type).decode
_line = msgspec.json.Decoder(_AnyLine).decode


def told_json(told: Told) -> bytes:
    """One line, without the line feed."""
    return event_line(told) if isinstance(told, Event) else _encode(_live_line(told))


def told_in(line: bytes, session_id: str) -> Told:
    """What a line tells; UnreadableLine. Hashes do not travel: an event has none."""
    try:
        if _type(line).type.startswith(LIVE):
            return _live(_line(line))
        return read_event(line, session_id)
    except (msgspec.DecodeError, UnicodeError, RecursionError, UnreadableExport) as problem:
        raise UnreadableLine(str(problem)) from None


def _live_line(told: Live) -> _AnyLine:
    match told:
        case TextDelta(text):
            return _Text(text=text)
        case ReasoningDelta(text):
            return _Reasoning(text=text)
        case CallDelta():
            return _Call(index=told.index, id=told.id, name=told.name, arguments=told.arguments)
        case Sign(call_id=call_id, progress=sign):
            return _Progress(
                call_id=call_id,
                message=sign.message,
                done=sign.done,
                total=sign.total,
                partial=sign.partial,
            )


def _live(line: _AnyLine) -> Live:
    match line:
        case _Text(text=text):
            return TextDelta(text)
        case _Reasoning(text=text):
            return ReasoningDelta(text)
        case _Call():
            return CallDelta(index=line.index, id=line.id, name=line.name, arguments=line.arguments)
        case _Progress():
            progress = Progress(
                message=line.message, done=line.done, total=line.total, partial=line.partial
            )
            return Sign(call_id=line.call_id, progress=progress)
