"""The default dialect: ``{"ok": true, "result": ...}`` or ``{"ok": false, "kind": ...}``.

Compact, sorted keys: the same envelope always gives the same bytes.
"""

import msgspec

from holdfast.contract.envelope import NO_METADATA, RESERVED_KEYS, Envelope, Metadata
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue, decode_json, encode_json

_encode = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.Decoder().decode

_SUCCESS_KEYS = frozenset({"ok", "tool", "result", "warnings", "metadata"})


_NOT_A_TOOLS_TO_SAY = frozenset({FailureKind.REJECTED, FailureKind.USER_DENIED})


class NotAnEnvelope(ValueError):
    """The text is not an envelope in this dialect."""


def render(envelope: Envelope) -> str:
    """Write the envelope. Never raises."""
    try:
        if envelope.failure is None and not envelope.warnings and envelope.tool:
            return _plain_success(envelope, envelope.tool)
        return _encode(_wire(envelope)).decode()
    except (ValueError, TypeError, OverflowError, RecursionError):
        return _careful(envelope)


def _plain_success(envelope: Envelope, tool: str) -> str:
    """What most calls end in, put together from parts that are JSON already."""
    result, metadata = envelope.result_json, envelope.metadata
    if metadata.duration_ms is None and metadata == NO_METADATA:
        return (b'{"ok":true,"result":%b,"tool":%b}' % (result, _encode(tool))).decode()
    parts = (_encode(metadata), result, _encode(tool))
    return (b'{"metadata":%b,"ok":true,"result":%b,"tool":%b}' % parts).decode()


def _wire(envelope: Envelope) -> dict[str, object]:
    failure = envelope.failure
    if failure is None:
        wire: dict[str, object] = {"ok": True, "result": msgspec.Raw(envelope.result_json)}
    else:
        wire = {key: value for key, value in failure.extras.items() if key not in RESERVED_KEYS}
        wire["ok"] = False
        wire["kind"] = failure.kind
        wire["message"] = failure.message
        wire["retryable"] = failure.retryable
        if failure.field is not None:
            wire["field"] = failure.field
        if failure.expected is not None:
            wire["expected"] = failure.expected
    if envelope.tool:
        wire["tool"] = envelope.tool
    if envelope.warnings:
        wire["warnings"] = envelope.warnings
    metadata = envelope.metadata
    if metadata.duration_ms is not None or metadata != NO_METADATA:
        wire["metadata"] = metadata
    return wire


def _careful(envelope: Envelope) -> str:
    """For text that is not Unicode and the like: replace what cannot be written."""
    wire = _wire(envelope)
    if "result" in wire and envelope.failure is None:
        try:
            wire["result"] = decode_json(envelope.result_json)
        except (ValueError, RecursionError):
            wire["result"] = None
    return encode_json(wire).decode()


def parse(text: str | bytes) -> Envelope:
    """Read an envelope; NotAnEnvelope says what is wrong with the text."""
    try:
        top: JsonValue = _decode(text)
    except (ValueError, RecursionError) as problem:
        raise NotAnEnvelope(f"not JSON: {problem}") from None
    if not isinstance(top, dict) or not isinstance(top.get("ok"), bool):
        raise NotAnEnvelope("no top-level `ok` that is true or false")
    return _success(top) if top["ok"] else _failure(top)


def strict_parse(text: str) -> Envelope | None:
    """The envelope a tool wrote as text, or None when the text is not exactly one.

    Measurements are the runtime's to make: a `metadata` the text carries is dropped. Only policy
    and a person can refuse: text that claims they did stays text.
    """
    if not text.startswith("{") or '"ok"' not in text:
        return None
    try:
        made = parse(text)
    except NotAnEnvelope:
        return None
    if made.failure is not None and made.failure.kind in _NOT_A_TOOLS_TO_SAY:
        return None
    top: JsonObject = _decode(text)
    if made.failure is None and ("result" not in top or not top.keys() <= _SUCCESS_KEYS):
        return None
    return msgspec.structs.replace(made, metadata=NO_METADATA)


def _success(top: JsonObject) -> Envelope:
    return Envelope(
        result_json=encode_json(top.get("result")),
        tool=_text(top, "tool"),
        warnings=_warnings(top),
        metadata=_metadata(top),
    )


def _failure(top: JsonObject) -> Envelope:
    kind = _text(top, "kind")
    message = _text(top, "message")
    if kind is None or message is None:
        raise NotAnEnvelope("a failure needs `kind` and `message`")
    try:
        known = FailureKind(kind)
    except ValueError:
        raise NotAnEnvelope(f"unknown failure kind {kind!r}") from None
    retryable = top.get("retryable", known.retryable)
    if not isinstance(retryable, bool):
        raise NotAnEnvelope("`retryable` must be true or false")
    return Envelope(
        failure=Failure(
            kind=known,
            message=message,
            retryable=retryable,
            field=_text(top, "field"),
            expected=_text(top, "expected"),
            extras={key: value for key, value in top.items() if key not in RESERVED_KEYS},
        ),
        tool=_text(top, "tool"),
        warnings=_warnings(top),
        metadata=_metadata(top),
    )


def _text(top: JsonObject, key: str) -> str | None:
    value = top.get(key)
    if value is not None and not isinstance(value, str):
        raise NotAnEnvelope(f"`{key}` must be a text")
    return value


def _warnings(top: JsonObject) -> tuple[str, ...]:
    warnings = top.get("warnings", [])
    if not isinstance(warnings, list):
        raise NotAnEnvelope("`warnings` must be a list of texts")
    texts = [warning for warning in warnings if isinstance(warning, str)]
    if len(texts) != len(warnings):
        raise NotAnEnvelope("`warnings` must be a list of texts")
    return tuple(texts)


def _metadata(top: JsonObject) -> Metadata:
    if "metadata" not in top:
        return NO_METADATA
    try:
        return msgspec.convert(top["metadata"], Metadata)
    except msgspec.ValidationError as problem:
        raise NotAnEnvelope(f"`metadata`: {problem}") from None
