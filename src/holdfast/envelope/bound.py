"""The one output bound: the beginning stays as `head`, the end as `metadata.tail`.

The decision is here; the sidecar file is written by a port. Tools return complete results and know
nothing of it.
"""

from collections.abc import Callable

import msgspec

from holdfast.contract.envelope import Envelope, Metadata
from holdfast.contract.failure import Failure
from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.contract.ports import StoredOutput
from holdfast.contract.told import KeptOutput
from holdfast.contract.tool import OutputBound
from holdfast.contract.truncate import cut_utf8, tail_utf8, truncate_for_model

TAIL_BYTES = 2_048
_EXTRA_CHARACTERS = 2_000
_LONG_KEY = 1_000
_MESSAGE_CHARACTERS = 4_000
WARNINGS = 20
"""How many an answer shows."""
_WARNING_CHARACTERS = 1_000
_LONGEST_CHARACTER = 4
_BESIDE_BYTES = 4_096
"""So much may stand beside a declared field whatever the bound is."""
_FEW_EXTRAS_BYTES = 16_384
"""So much a failure may explain whatever the bound is."""

CUT_FORM: JsonObject = {
    "type": "object",
    "properties": {
        "head": {
            "type": "string",
            "description": "The beginning of what was too large. metadata.tail holds its end, and"
            " metadata.output_path names the file with all of it.",
        },
    },
    "required": ["head"],
    "description": "What was too large to show; the fields beside what was cut stay.",
}
"""The schema of every result that was cut, whatever its tool declares of whole ones."""

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
    if envelope.warnings and _too_many(envelope.warnings):
        return True
    if envelope.failure is not None:
        return bool(envelope.failure.extras) or _is_wordy(envelope.failure)
    return len(envelope.result_json) > bound.max_bytes or bound.max_items is not None


def bound_envelope(envelope: Envelope, bound: OutputBound, keep: Keep) -> Envelope:
    """Cut what is too large to show, keep the whole elsewhere, and say exactly what was done."""
    if _too_many(envelope.warnings):
        envelope = msgspec.structs.replace(envelope, warnings=_few(envelope.warnings))
    if envelope.failure is not None:
        return _bound_failure(envelope, envelope.failure, bound, keep)
    cut = cut_for(envelope.result, bound)
    if cut is None:
        return envelope
    result = _with_head(cut.beside, cut.head.decode())
    tail = tail_utf8(cut.content[len(cut.head) :], TAIL_BYTES)
    metadata = _measured(envelope.metadata, cut.content, len(cut.head) + len(tail), keep)
    return msgspec.structs.replace(
        envelope,
        result_json=encode_json(result),
        metadata=msgspec.structs.replace(metadata, tail=tail.decode()),
    )


def bound_spooled(envelope: Envelope, output: KeptOutput, bound: OutputBound) -> Envelope:
    """The same for a result whose text is in a file already: nothing is written once more."""
    result = envelope.result
    if output.complete and cut_for(result, bound) is None:
        return bound_envelope(envelope, bound, lambda _content: None)
    beside = {
        key: value
        for key, value in (result if isinstance(result, dict) else {}).items()
        if key not in bound.fields
    }
    head = _cut_bytes(output.head, bound.max_bytes)
    between = output.head[len(head) :] if output.complete else b""
    tail = (between + output.tail)[-TAIL_BYTES:]
    lost = output.dropped if output.path is not None else output.total - len(head) - len(tail)
    warnings = envelope.warnings
    return msgspec.structs.replace(
        envelope,
        result_json=encode_json(_with_head(beside, _as_text(head, bound.max_bytes))),
        warnings=_few(warnings) if _too_many(warnings) else warnings,
        metadata=msgspec.structs.replace(
            envelope.metadata,
            truncated=True,
            output_path=output.path,
            tail=_end_as_text(tail),
            output_bytes=output.total,
            dropped_bytes=lost or None,
        ),
    )


def _with_head(beside: JsonObject, head: str) -> JsonObject:
    """A result that tells of itself whether it is whole tells the truth."""
    told: JsonObject = {"truncated": True} if beside.get("truncated") is False else {}
    return {**beside, **told, "head": head}


def _cut_bytes(content: bytes, limit: int) -> bytes:
    """On a character boundary where it is text; a program may print anything."""
    cut = cut_utf8(content, limit)
    return cut if limit - len(cut) < _LONGEST_CHARACTER else content[:limit]


def _as_text(content: bytes, limit: int) -> str:
    """What is no text is replaced, which makes it longer."""
    return cut_utf8(content.decode("utf-8", "replace").encode(), limit).decode()


def _end_as_text(content: bytes) -> str:
    # The first character may have begun before.
    begun = tail_utf8(content[:_LONGEST_CHARACTER], _LONGEST_CHARACTER)
    return (begun + content[_LONGEST_CHARACTER:]).decode("utf-8", "replace")


def _measured(metadata: Metadata, content: bytes, shown: int, keep: Keep) -> Metadata:
    """Keep the whole, and say how much of it there is and how much is lost."""
    stored = keep(content)
    kept = shown if stored is None else stored.stored_bytes
    return msgspec.structs.replace(
        metadata,
        truncated=True,
        output_path=None if stored is None else stored.path,
        tail=None,
        output_bytes=len(content),
        dropped_bytes=len(content) - kept if kept < len(content) else None,
    )


def _too_many(warnings: tuple[str, ...]) -> bool:
    return len(warnings) > WARNINGS or any(len(text) > _WARNING_CHARACTERS for text in warnings)


def _few(warnings: tuple[str, ...]) -> tuple[str, ...]:
    shown = tuple(truncate_for_model(text, _WARNING_CHARACTERS) for text in warnings[:WARNINGS])
    left_out = len(warnings) - len(shown)
    return (*shown, f"{left_out} further warnings were left out.") if left_out else shown


def cut_for(result: JsonValue, bound: OutputBound) -> Cut | None:
    """Decide what to cut; None when the result is within its bound."""
    if isinstance(result, dict):
        declared = [name for name in bound.fields if name in result]
        named = declared or _overlong(result, bound)
        if named:
            return _cut_fields(result, named, bound)
        return _cut_largest(result, bound)
    return _cut_value(result, {}, bound.max_bytes, bound)


def _overlong(result: JsonObject, bound: OutputBound) -> list[str]:
    """The longest list, if it has more items than may be shown."""
    if bound.max_items is None:
        return []
    lengths = {name: len(value) for name, value in result.items() if isinstance(value, list)}
    longest = max(lengths, key=lambda name: lengths[name], default="")
    return [longest] if lengths.get(longest, 0) > bound.max_items else []


def _cut_fields(result: JsonObject, names: list[str], bound: OutputBound) -> Cut | None:
    beside = {key: value for key, value in result.items() if key not in names}
    if "head" in beside or len(encode_json(beside)) > max(bound.max_bytes, _BESIDE_BYTES):
        return _cut_whole(result, bound)
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
    if around > bound.max_bytes // 2 or len(largest) > max(bound.max_bytes // 2, _LONG_KEY):
        return _cut_whole(result, bound)
    return _cut_value(result[largest], beside, bound.max_bytes - around, bound)


def _cut_whole(result: JsonValue, bound: OutputBound) -> Cut | None:
    return _cut_value(encode_json(result).decode(), {}, bound.max_bytes, bound)


def _cut_value(value: JsonValue, beside: JsonObject, limit: int, bound: OutputBound) -> Cut | None:
    content = shown = _text(value).encode()
    if bound.max_items is not None and isinstance(value, list) and len(value) > bound.max_items:
        shown = "\n".join(_lines(value)[: bound.max_items]).encode()
    if len(shown) == len(content) <= limit:
        return None
    head = cut_utf8(shown, limit)
    if isinstance(value, list) and len(head) < len(shown) and b"\n" in head:
        head = head[: head.rindex(b"\n") + 1]  # half an item would be read as another one
    return Cut(content=content, head=head, beside=beside)


def _text(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(_lines(value))
    return encode_json(value).decode()


def _lines(items: list[JsonValue]) -> list[str]:
    """An item is a line. Texts stay as they are, unless that would make two lines of one."""
    as_is = not any(isinstance(item, str) and "\n" in item for item in items)
    return [
        item if as_is and isinstance(item, str) else encode_json(item).decode() for item in items
    ]


def _bound_failure(
    envelope: Envelope, failure: Failure, bound: OutputBound, keep: Keep
) -> Envelope:
    """An oversized failure stays a failure: its message and extras are cut, the whole is kept."""
    content = encode_json(failure)
    extras = failure.extras
    if len(content) > bound.max_bytes:
        extras = _short_extras(extras, max(bound.max_bytes, _FEW_EXTRAS_BYTES))
    shorter = msgspec.structs.replace(
        failure,
        message=truncate_for_model(failure.message, _MESSAGE_CHARACTERS),
        field=_short_text(failure.field),
        expected=_short_text(failure.expected),
        extras=extras,
    )
    if shorter == failure:
        return envelope
    metadata = _measured(envelope.metadata, content, len(encode_json(shorter)), keep)
    return msgspec.structs.replace(envelope, failure=shorter, metadata=metadata)


def _is_wordy(failure: Failure) -> bool:
    beside = (failure.field or "", failure.expected or "")
    return len(failure.message) > _MESSAGE_CHARACTERS or any(
        len(text) > _EXTRA_CHARACTERS for text in beside
    )


def _short_text(text: str | None) -> str | None:
    return None if text is None else truncate_for_model(text, _EXTRA_CHARACTERS)


def _short_extras(extras: JsonObject, room: int) -> JsonObject:
    """Each extra cut by itself, and as many of them as there is room for."""
    shown: JsonObject = {}
    for key, value in extras.items():
        text = _text(value)
        short = value if len(text) <= _EXTRA_CHARACTERS else _short_text(text)
        room -= len(encode_json({key: short}))
        if room >= 0:
            shown[key] = short
    return shown
