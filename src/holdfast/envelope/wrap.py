"""Whatever a tool returned, as one envelope. Pure: storing attachments is the pipeline's work."""

import msgspec

from holdfast.contract.backend import (
    BackendFailureKind,
    CodeResult,
    CommandResult,
    FileContent,
    FileEntries,
    FileWriteResult,
    ToolExecutionFailure,
    ToolResult,
    text_in,
)
from holdfast.contract.builders import failure_of
from holdfast.contract.call import Ending, Interrupted, Raised, Returned, TimedOut
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import encode_json
from holdfast.contract.results import Binary, Image
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


def wrap(ending: Ending, tool: str) -> Envelope | Binary | Image:
    """Turn how a body ended into an envelope, or hand back bytes that must be stored first."""
    match ending:
        case Returned():
            return wrap_value(ending.value, tool)
        case Raised():
            return Envelope(failure=failure_from(ending.error, tool=tool), tool=tool)
        case TimedOut():
            return Envelope(failure=timed_out(tool, ending.seconds), tool=tool)
        case Interrupted():
            return Envelope(failure=cancelled(tool), tool=tool)


def wrap_value(value: object, tool: str) -> Envelope | Binary | Image:
    """Turn a return value into an envelope, or hand back bytes that must be stored first."""
    if type(value) in _PLAIN:
        return Envelope(result_json=encode_json(value), tool=tool)
    match value:
        case Envelope():
            return value if value.tool is not None else with_tool(value, tool)
        case str():
            return wrap_text(value, tool)
        case Image() | Binary():
            return value
        case bytes() | bytearray():
            return Binary(bytes(value))
        case ToolExecutionFailure():
            return Envelope(failure=backend_failure(value), tool=tool)
        case ToolResult():
            return Envelope(result_json=encode_json(backend_value(value)), tool=tool)
        case _:
            return Envelope(result_json=encode_json(value), tool=tool)


def with_tool(envelope: Envelope, tool: str) -> Envelope:
    """Fill in the tool's name."""
    return msgspec.structs.replace(envelope, tool=tool)


def wrap_text(text: str, tool: str) -> Envelope:
    """Plain text becomes a result with `text`; text that is an envelope passes as that envelope."""
    made = strict_parse(text)
    if made is None:
        return Envelope(result_json=encode_json({"text": text}), tool=tool)
    return made if made.tool is not None else with_tool(made, tool)


def backend_failure(value: ToolExecutionFailure) -> Failure:
    """A sandbox operation's failure as one of the eight kinds, its own kind kept in extras."""
    kind, retryable = _BACKEND_KINDS[value.kind]
    extras: dict[str, object] = {"error_kind": value.kind}
    if value.detail:
        extras["detail"] = value.detail
    return failure_of(kind, value.message, retryable=retryable, extras=extras)


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
            return {"data": value.data if isinstance(value.data, str) else text_in(value.data)}
        case FileEntries() | FileWriteResult() | CodeResult():
            return value
        case _:
            return {"type": type(value).__name__, "note": "unserialised result"}
