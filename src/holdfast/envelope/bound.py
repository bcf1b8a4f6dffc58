"""The one output bound: the beginning stays as `head`, the end as `metadata.tail`.

The decision is here; the sidecar file is written by a port. Tools return complete results and know
nothing of it.
"""

from collections.abc import Callable

import msgspec

from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import Failure
from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.contract.ports import StoredOutput
from holdfast.contract.tool import OutputBound
from holdfast.contract.truncate import cut_utf8, tail_utf8, truncate_for_model

TAIL_BYTES = 2_048
_EXTRA_CHARACTERS = 2_000
_MESSAGE_CHARACTERS = 4_000

Keep = Callable[[bytes], StoredOutput | None]
"""Stores the whole output and says where; None when it could not be kept."""


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """What to take out of a result: the whole text, and how much of it stays."""

    content: bytes
    head: bytes
    beside: JsonObject
    """The fields that stay next to the head."""


def may_exceed(envelope: Envelope, bound: OutputBound) -> bool:
    """Whether a closer look is needed. JSON text is never shorter than the text inside it."""
    if envelope.failure is not None:
        failure = envelope.failure
        return bool(failure.extras) or len(failure.message) > _MESSAGE_CHARACTERS
    return len(envelope.result_json) > bound.max_bytes or bound.max_items is not None


def bound_envelope(envelope: Envelope, bound: OutputBound, keep: Keep) -> Envelope:
    """Cut what is too large to show, keep the whole elsewhere, and say exactly what was done."""
    if envelope.failure is not None:
        return _bound_failure(envelope, envelope.failure, bound, keep)
    cut = cut_for(envelope.result, bound)
    if cut is None:
        return envelope
    head = cut.head.decode()
    result: JsonObject = {**cut.beside, "head": head}
    return _marked(
        msgspec.structs.replace(envelope, result_json=encode_json(result)),
        cut.content,
        len(cut.head),
        keep,
    )


def _marked(envelope: Envelope, content: bytes, shown: int, keep: Keep) -> Envelope:
    stored = keep(content)
    tail = tail_utf8(content[shown:], TAIL_BYTES)
    kept = stored.stored_bytes if stored is not None else shown + len(tail)
    metadata = msgspec.structs.replace(
        envelope.metadata,
        truncated=True,
        output_path=stored.path if stored is not None else None,
        tail=tail.decode(),
        output_bytes=len(content),
        dropped_bytes=len(content) - kept if kept < len(content) else None,
    )
    return msgspec.structs.replace(envelope, metadata=metadata)


def cut_for(result: JsonValue, bound: OutputBound) -> Cut | None:
    """Decide what to cut; None when the result is within its bound."""
    if isinstance(result, dict):
        declared = [name for name in bound.fields if name in result]
        if declared:
            return _cut_fields(result, declared, bound)
        return _cut_largest(result, bound)
    return _cut_value(result, {}, bound.max_bytes, bound)


def _cut_fields(result: JsonObject, names: list[str], bound: OutputBound) -> Cut | None:
    beside = {key: value for key, value in result.items() if key not in names}
    if len(names) == 1:
        return _cut_value(result[names[0]], beside, bound.max_bytes, bound)
    joined = "".join(_text(result[name]) for name in names)
    return _cut_value(joined, beside, bound.max_bytes, bound)


def _cut_largest(result: JsonObject, bound: OutputBound) -> Cut | None:
    sizes = {name: len(encode_json(value)) for name, value in result.items()}
    largest = max(sizes, key=lambda name: sizes[name], default=None)
    if largest is None or "head" in result:
        return _cut_whole(result, bound)
    beside = {key: value for key, value in result.items() if key != largest}
    around = len(encode_json(beside)) if beside else 0
    if around > bound.max_bytes // 2:
        return _cut_whole(result, bound)
    return _cut_value(result[largest], beside, bound.max_bytes - around, bound)


def _cut_whole(result: JsonValue, bound: OutputBound) -> Cut | None:
    return _cut_value(encode_json(result).decode(), {}, bound.max_bytes, bound)


def _cut_value(value: JsonValue, beside: JsonObject, limit: int, bound: OutputBound) -> Cut | None:
    content = _text(value).encode()
    shown = content
    if bound.max_items is not None and isinstance(value, list) and len(value) > bound.max_items:
        shown = _text(value[: bound.max_items]).encode()
    if len(shown) == len(content) <= limit:
        return None
    return Cut(content=content, head=cut_utf8(shown, limit), beside=beside)


def _text(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(_line(item) for item in value)
    return encode_json(value).decode()


def _line(item: JsonValue) -> str:
    return item if isinstance(item, str) else encode_json(item).decode()


def _bound_failure(
    envelope: Envelope, failure: Failure, bound: OutputBound, keep: Keep
) -> Envelope:
    """An oversized failure stays a failure: its message and extras are cut, the whole is kept."""
    content = encode_json(failure)
    if len(failure.message) <= _MESSAGE_CHARACTERS and len(content) <= bound.max_bytes:
        return envelope
    shorter = msgspec.structs.replace(
        failure,
        message=truncate_for_model(failure.message, _MESSAGE_CHARACTERS),
        extras={key: _short(value) for key, value in failure.extras.items()},
    )
    shown = len(content) - max(len(content) - len(encode_json(shorter)), 0)
    marked = _marked(envelope, content, shown, keep)
    metadata = msgspec.structs.replace(marked.metadata, tail=None)
    return msgspec.structs.replace(marked, failure=shorter, metadata=metadata)


def _short(value: JsonValue) -> JsonValue:
    text = _text(value)
    return value if len(text) <= _EXTRA_CHARACTERS else truncate_for_model(text, _EXTRA_CHARACTERS)
