"""The dialect with a type: ``{"type": "output", "data": ...}`` or ``{"type": "error", ...}``.

What the shape has no place for (kind, field, expected, retryable, extras, warnings, tool) rides in
metadata, so converting loses nothing.
"""

import msgspec

from holdfast.contract.builders import failure_of
from holdfast.contract.envelope import Envelope, Metadata
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue, decode_json, encode_json, plain

_MEASURED = frozenset(Metadata.__struct_fields__)


class _Beside(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What rides in metadata next to the measurements."""

    kind: FailureKind | None = None
    field: str | None = None
    expected: str | None = None
    retryable: bool | None = None
    extras: dict[str, JsonValue] | None = None
    warnings: tuple[str, ...] = ()
    tool: str | None = None


def render(envelope: Envelope) -> str:
    """Write the envelope."""
    failure = envelope.failure
    beside = _Beside(tool=envelope.tool or None, warnings=envelope.warnings)
    wire: dict[str, object] = {"type": "output", "data": decode_json(envelope.result_json)}
    if failure is not None:
        beside = msgspec.structs.replace(
            beside,
            kind=failure.kind,
            field=failure.field,
            expected=failure.expected,
            retryable=failure.retryable,
            extras={key: plain(value) for key, value in failure.extras.items()} or None,
        )
        wire = {"type": "error", "error_text": failure.message}
    measured = msgspec.to_builtins(envelope.metadata)
    wire["metadata"] = {"duration_ms": 0, **measured, **msgspec.to_builtins(beside)}
    return encode_json(wire).decode()


def parse(text: str | bytes) -> Envelope:
    """Read an envelope; ValueError says what is wrong with the text."""
    try:
        wire = msgspec.json.decode(text, type=dict[str, JsonValue])
    except RecursionError:
        raise ValueError("nested too deeply") from None
    riding = wire.get("metadata")
    if not isinstance(riding, dict):
        raise ValueError("`metadata` must be an object")
    measured = {key: value for key, value in riding.items() if key in _MEASURED}
    rest = {key: value for key, value in riding.items() if key not in _MEASURED}
    beside = msgspec.convert(rest, _Beside)
    result, failure = _payload(wire, beside)
    return Envelope(
        result_json=encode_json(result),
        failure=failure,
        tool=beside.tool,
        warnings=beside.warnings,
        metadata=msgspec.convert(measured, Metadata),
    )


def _payload(wire: JsonObject, beside: _Beside) -> tuple[JsonValue, Failure | None]:
    message = wire.get("error_text")
    match wire.get("type"):
        case "output" if "data" in wire and message is None:
            return wire["data"], None
        case "error" if isinstance(message, str) and "data" not in wire:
            return None, failure_of(
                beside.kind or FailureKind.EXECUTION_ERROR,
                message,
                field=beside.field,
                expected=beside.expected,
                retryable=beside.retryable,
                extras=beside.extras,
            )
        case _:
            raise ValueError("an output has `data` alone, an error has `error_text` alone")
