"""Whatever a tool returned, as one envelope. Pure: storing attachments is the pipeline's work."""

from typing import TypeAlias, cast

import msgspec

from holdfast.contract.backend import (
    BackendFailureKind,
    CodeResult,
    CommandResult,
    FileContent,
    FileEntries,
    FileWriteResult,
    PathFailure,
    ToolExecutionFailure,
    ToolResult,
    text_in,
)
from holdfast.contract.builders import TRUNCATED_LISTING, failure_of
from holdfast.contract.call import Ending, Raised, Returned, TimedOut
from holdfast.contract.envelope import NO_METADATA, NULL, Envelope, Metadata
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonValue, decode_json, encode_json, plain
from holdfast.contract.results import Binary, Image, Listing
from holdfast.contract.told import KeptOutput, ShownInPart, Told
from holdfast.envelope.dialects.ok import strict_parse
from holdfast.envelope.from_error import cancelled, failure_from, timed_out

_BACKEND_KINDS: dict[BackendFailureKind, tuple[FailureKind, bool | None]] = {
    "file_not_found": (FailureKind.NOT_FOUND, None),
    "timeout": (FailureKind.TIMEOUT, None),
    "sandbox_closed": (FailureKind.UNAVAILABLE, None),
    "unsupported_tool": (FailureKind.UNAVAILABLE, False),
    "sdk_missing": (FailureKind.UNAVAILABLE, False),
    "os_error": (FailureKind.EXECUTION_ERROR, None),
    "unexpected": (FailureKind.EXECUTION_ERROR, None),
    "dispatch_error": (FailureKind.EXECUTION_ERROR, None),
    "sandbox_sdk_error": (FailureKind.EXECUTION_ERROR, None),
}

_PLAIN = frozenset({bool, int, float, dict, list, type(None)})
"""What most tools return: nothing to look into."""


class Spooled(msgspec.Struct, frozen=True):
    """An answer whose text a file holds already."""

    envelope: Envelope
    output: KeptOutput


Wrapped: TypeAlias = Envelope | Spooled | Binary | Image
"""An envelope, or what has to be seen to before it is one."""


def wrap(ending: Ending, tool: str) -> Wrapped:
    """Turn how a body ended into an envelope, or hand back bytes that must be stored first."""
    if isinstance(ending, Returned):
        if type(ending.value) in _PLAIN:
            return Envelope(result_json=encode_json(ending.value), tool=tool)
        return _wrap_returned(ending.value, tool)
    if isinstance(ending, Raised):
        return Envelope(failure=failure_from(ending.error, tool=tool), tool=tool)
    if isinstance(ending, TimedOut):
        return Envelope(failure=timed_out(tool, ending.seconds), tool=tool)
    return Envelope(failure=cancelled(tool), tool=tool)


def _wrap_returned(value: object, tool: str) -> Wrapped:
    kind = type(value).__name__
    try:
        if isinstance(value, Told):
            return _told(cast("Told[object]", value), tool)
        if isinstance(value, ShownInPart):
            return _in_part(wrap_value(value.value, tool))
        return wrap_value(value, tool)
    except (AttributeError, TypeError, ValueError, RecursionError) as problem:
        # Ours by its type, but put together by hand from what its fields do not allow.
        message = f"The tool answered with a malformed {kind}: {problem}"
        return Envelope(failure=failure_of(FailureKind.EXECUTION_ERROR, message), tool=tool)


def _in_part(wrapped: Envelope | Binary | Image) -> Wrapped:
    """Bytes are kept whole, whatever was shown of them."""
    if not isinstance(wrapped, Envelope):
        return wrapped
    return msgspec.structs.replace(wrapped, metadata=Metadata(truncated=True))


def _told(told: Told[object], tool: str) -> Wrapped:
    result, warnings = encode_json(told.result), tuple(map(str, told.warnings))
    envelope = Envelope(result_json=result, warnings=warnings, tool=tool)
    return envelope if told.output is None else Spooled(envelope, told.output)


def wrap_value(value: object, tool: str) -> Envelope | Binary | Image:
    """Turn a return value into an envelope, or hand back bytes that must be stored first."""
    match value:
        case Envelope():
            # Measurements are the runtime's to make; a tool cannot claim any.
            return _sound(msgspec.structs.replace(value, tool=tool, metadata=NO_METADATA))
        case str():
            return wrap_text(value, tool)
        case Binary() | Image() | bytes() | bytearray():
            return _detached(value)
        case Listing(truncated=True):
            remarks = (TRUNCATED_LISTING,)
            return Envelope(result_json=encode_json(value), tool=tool, warnings=remarks)
        case ToolExecutionFailure():
            return Envelope(failure=backend_failure(value), tool=tool)
        case ToolResult():
            return Envelope(result_json=encode_json(backend_value(value)), tool=tool)
        case _:
            return Envelope(result_json=encode_json(value), tool=tool)


def _detached(value: Binary | Image | bytes | bytearray) -> Binary | Image:
    """The bytes as they are now, whatever their giver does with them later."""
    if isinstance(value, (bytes, bytearray)):
        return Binary(bytes(value))
    content = bytes(memoryview(value.content))
    if isinstance(value, Binary):
        return Binary(content, str(value.media_type))
    about = msgspec.convert(plain(value.about), dict[str, JsonValue])
    return Image(content, str(value.media_type), about)


def _sound(envelope: Envelope) -> Envelope:
    """The envelope a tool made itself, checked: whoever renders it may rely on its fields."""
    rest = plain(msgspec.structs.replace(envelope, result_json=NULL))
    result_json = encode_json(decode_json(envelope.result_json))
    return msgspec.structs.replace(msgspec.convert(rest, Envelope), result_json=result_json)


def wrap_text(text: str, tool: str) -> Envelope:
    """Plain text becomes a result with `text`; text that is an envelope passes as that envelope."""
    made = strict_parse(text)
    if made is None:
        return Envelope(result_json=encode_json({"text": text}), tool=tool)
    return msgspec.structs.replace(made, tool=tool)


def backend_failure(value: ToolExecutionFailure) -> Failure:
    """A sandbox operation's failure as one of the eight kinds, its own kind kept in extras."""
    kind, retryable = _BACKEND_KINDS.get(value.kind, (FailureKind.EXECUTION_ERROR, None))
    extras: dict[str, object] = {"error_kind": value.kind}
    if value.detail:
        extras["detail"] = value.detail
    field = expected = None
    if isinstance(value, PathFailure):
        field = value.field
        kind = FailureKind.NOT_FOUND if value.missing else FailureKind.INVALID_ARGS
        expected = None if value.missing else "a path inside the sandbox's working directory"
    return failure_of(
        kind, value.message, field=field, expected=expected, retryable=retryable, extras=extras
    )


def backend_value(value: ToolResult) -> object:
    """A sandbox operation's result as plain data."""
    match value:
        case CommandResult():
            return {
                "exit_code": value.exit_code,
                "stdout": text_in(value.stdout),
                "stderr": text_in(value.stderr),
                "elapsed_ms": value.elapsed_ms,
            }
        case FileContent():
            return {"data": text_in(value.data)}
        case FileEntries() | FileWriteResult() | CodeResult():
            return value
        case _:
            return {"type": type(value).__name__, "note": "unserialised result"}
