"""What took how long, inside of what: the spans of a wake or of a whole session.

Spans that were written down, and those that follow from the steps of calls: a `tool.call` from when
it was asked for until it was settled, a `permission.evaluate` for every decision over it.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from holdfast.contract.events import (
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    Event,
    SpanCompleted,
    SpanKind,
    SpanResult,
    SpanStarted,
)
from holdfast.contract.json_value import JsonObject

TracedKind: TypeAlias = SpanKind | Literal["tool.call", "permission.evaluate"]


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """Something that took time, or a decision."""

    id: str
    parent_id: str | None
    wake_id: str | None
    kind: TracedKind
    name: str
    started_at: datetime
    ended_at: datetime | None = None
    """None: it did not end, or nobody wrote that down."""
    result: SpanResult | None = None
    attributes: JsonObject = {}


class _Answer(msgspec.Struct):
    """What an envelope says at a glance."""

    class _Metadata(msgspec.Struct):
        duration_ms: int | None = None
        truncated: bool = False

    ok: bool = False
    kind: str | None = None
    message: str | None = None
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


def trace(events: Iterable[Event], wake_id: str | None = None) -> tuple[Span, ...]:
    """The spans of a wake, or of all there are, in the order they began."""
    spans: dict[str, Span] = {}
    for event in events:
        if wake_id is None or event.wake_id == wake_id:
            _add(spans, event)
    return tuple(spans.values())


def nested(spans: Sequence[Span]) -> Iterator[tuple[int, Span]]:
    """Each span behind the one it is inside of, with how deep it is; none is left out.

    One whose parent is not there, or is inside of the span itself, is inside of nothing.
    """
    known = {span.id for span in spans}
    below: dict[str | None, list[Span]] = {}
    for span in spans:
        below.setdefault(span.parent_id if span.parent_id in known else None, []).append(span)
    told: set[str] = set()
    for first in (*below.get(None, ()), *spans):
        waiting = [(0, first)]
        while waiting:
            depth, span = waiting.pop()
            if span.id not in told:
                told.add(span.id)
                yield depth, span
                inside = below.get(span.id, ())
                waiting += [(depth + 1, one) for one in reversed(inside)]


def _add(spans: dict[str, Span], event: Event) -> None:
    match event.payload:
        case SpanStarted() as said:
            spans[said.span_id] = _begun(
                event, said.span_id, said.parent_span_id, said.span_kind, said.name
            )
        case SpanCompleted() as said:
            begun = spans.get(said.span_id) or _begun(
                event, said.span_id, said.parent_span_id, said.span_kind, said.name
            )
            spans[said.span_id] = _ended(begun, event.at, said.result)
        case CallAsked() as said:
            called = _begun(event, said.call_id, event.wake_id, "tool.call", said.tool)
            attributes: JsonObject = {"call_id": said.call_id, "model_call_id": said.model_call_id}
            spans[said.call_id] = msgspec.structs.replace(called, attributes=attributes)
        case CallSettled() as said if said.call_id in spans:
            spans[said.call_id] = _settled(spans[said.call_id], event, said)
        case CallIntended() as said:
            _decided(spans, event, said, "allow", said.grounds)
        case CallRefused() as said:
            _decided(spans, event, said, "deny", said.reason)
        case ApprovalAsked() as said:
            pattern = ", ".join(use.target for use in said.uses)
            _decided(spans, event, said, "ask", said.reason, pattern)
        case _:
            return


def _begun(event: Event, span_id: str, parent_id: str | None, kind: TracedKind, name: str) -> Span:
    return Span(
        id=span_id,
        parent_id=parent_id,
        wake_id=event.wake_id,
        kind=kind,
        name=name,
        started_at=event.at,
    )


def _ended(span: Span, at: datetime, result: SpanResult) -> Span:
    return msgspec.structs.replace(span, ended_at=at, result=result)


def _settled(span: Span, event: Event, said: CallSettled) -> Span:
    try:
        told = msgspec.json.decode(said.envelope, type=_Answer)
    except (msgspec.DecodeError, UnicodeError):
        told = _Answer(message="the answer cannot be read")
    attributes: JsonObject = {
        **span.attributes,
        "duration_ms": told.metadata.duration_ms,
        "truncated": told.metadata.truncated,
        "error": None if told.ok else told.message,
    }
    blocked = told.kind in {"rejected", "user_denied"}
    result: SpanResult = "success" if told.ok else "blocked" if blocked else "error"
    return msgspec.structs.replace(_ended(span, event.at, result), attributes=attributes)


def _decided(
    spans: dict[str, Span],
    event: Event,
    said: CallIntended | CallRefused | ApprovalAsked,
    action: Literal["allow", "ask", "deny"],
    source: str,
    pattern: str | None = None,
) -> None:
    decided = _begun(event, event.id, said.call_id, "permission.evaluate", said.tool)
    attributes: JsonObject = {
        "tool": said.tool,
        "pattern": pattern,
        "action": action,
        "source": source,
    }
    result: SpanResult = "success" if action == "allow" else "blocked"
    ended = _ended(decided, event.at, result)
    spans[event.id] = msgspec.structs.replace(ended, attributes=attributes)
