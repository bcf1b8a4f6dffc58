"""The result of an MCP ``tools/call``: content parts, structured content, and the error flag.

What MCP has no place for rides in ``_meta``, so an envelope survives the journey.
"""

from pathlib import Path
from typing import Literal, cast

import msgspec

from holdfast.contract.builders import failure_of
from holdfast.contract.envelope import Envelope, Metadata, envelope_of
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue, decode_json, encode_json

META_KEY = "holdfast/envelope"


class _Meta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    metadata: Metadata = Metadata()
    failure: Failure | None = None
    warnings: tuple[str, ...] = ()
    tool: str | None = None
    first_part: Literal["text", "json", "parts"] | None = None
    """How the first part's text holds a result that is no object; parts: all of them are it."""


def render(envelope: Envelope) -> JsonObject:
    """Write the result object."""
    meta = _Meta(
        metadata=envelope.metadata,
        failure=envelope.failure,
        warnings=envelope.warnings,
        tool=envelope.tool or None,
    )
    wire: JsonObject = {"isError": not envelope.ok}
    if envelope.failure is not None:
        content = _failure_parts(envelope.failure)
    elif (parts := _content_parts(result := envelope.result)) is not None:
        content = parts
        meta = msgspec.structs.replace(meta, first_part="parts")
    else:
        content = [_part(result, envelope)]
        if isinstance(result, dict):
            wire["structuredContent"] = result
        else:
            form = "text" if isinstance(result, str) else "json"
            meta = msgspec.structs.replace(meta, first_part=form)
    wire["content"] = [*content, *(_text_part(warning) for warning in envelope.warnings)]
    wire["_meta"] = {META_KEY: cast("JsonValue", msgspec.to_builtins(meta))}
    return wire


def _failure_parts(failure: Failure) -> list[JsonValue]:
    """What went wrong, and behind it all that is known of it: a model does not see ``_meta``."""
    known: JsonObject = {"field": failure.field, "expected": failure.expected}
    details = {
        **{key: value for key, value in known.items() if value is not None},
        **failure.extras,
    }
    parts = [_text_part(failure.message)]
    return [*parts, _text_part(encode_json(details).decode())] if details else parts


def _content_parts(result: JsonValue) -> list[JsonValue] | None:
    """The parts of a result that is nothing else, as a server answers it; None: it is another."""
    match result:
        case {"parts": [*parts]} if len(result) == 1 and parts and all(map(_is_part, parts)):
            return parts
        case _:
            return None


def _is_part(part: JsonValue) -> bool:
    match part:
        case (
            {"type": "text", "text": str()}
            | {"type": "image" | "audio", "data": str(), "mimeType": str()}
            | {"type": "resource", "resource": {"uri": str()}}
            | {"type": "resource_link", "uri": str(), "name": str()}
        ):
            return True
        case _:
            return False


def _part(result: JsonValue, envelope: Envelope) -> JsonValue:
    match result:
        case {"kind": "image" | "binary", "path": str() as path, "media_type": str() as media} if (
            path.startswith("/")
        ):
            where = Path(path)
            return {
                "type": "resource_link",
                "uri": where.as_uri(),
                "name": where.name,
                "mimeType": media,
            }
        case {"text": str() as text}:
            return _text_part(text)
        case str():
            return _text_part(result)
        case _:
            return _text_part(envelope.result_json.decode())


def _text_part(text: str) -> JsonValue:
    return {"type": "text", "text": text}


def parse(wire: JsonObject, *, ours: bool = False) -> Envelope:
    """Read a result object. Only from a server known to be ours is `_meta` believed."""
    meta = _own_meta(wire) if ours else _Meta()
    if wire.get("isError") is True:
        failure = meta.failure or failure_of(FailureKind.EXECUTION_ERROR, _joined_text(wire))
        return Envelope(
            failure=failure, tool=meta.tool, warnings=meta.warnings, metadata=meta.metadata
        )
    made = envelope_of(_result(wire, meta), tool=meta.tool, warnings=meta.warnings)
    return msgspec.structs.replace(made, metadata=meta.metadata)


def _own_meta(wire: JsonObject) -> _Meta:
    meta = wire.get("_meta")
    own = meta.get(META_KEY) if isinstance(meta, dict) else None
    try:
        return msgspec.convert(own, _Meta) if own is not None else _Meta()
    except msgspec.ValidationError:
        return _Meta()


def _result(wire: JsonObject, meta: _Meta) -> JsonValue:
    if "structuredContent" in wire:
        return wire["structuredContent"]
    parts = _parts(wire)
    if meta.first_part == "parts":
        return {"parts": cast("list[JsonValue]", parts[: len(parts) - len(meta.warnings)])}
    first = parts[0].get("text") if parts else None
    if meta.first_part is not None and isinstance(first, str):
        return first if meta.first_part == "text" else _json(first)
    if all(part.get("type") == "text" for part in parts):
        return {"text": _joined_text(wire)}
    return {"parts": cast("list[JsonValue]", parts)}


def _json(text: str) -> JsonValue:
    try:
        return decode_json(text)
    except (ValueError, RecursionError):
        return {"text": text}


def _joined_text(wire: JsonObject) -> str:
    texts = [part.get("text") for part in _parts(wire)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _parts(wire: JsonObject) -> list[JsonObject]:
    content = wire.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
