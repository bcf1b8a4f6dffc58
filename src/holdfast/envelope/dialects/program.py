"""The plain form of tool programs: what came out, on one line, or ``{"error": "..."}``.

Writes the form that transcripts of programs use, and reads it back. It starts nothing.
"""

from holdfast.contract.builders import failure_of
from holdfast.contract.envelope import Envelope, envelope_of
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import clean_text, decode_json, encode_json
from holdfast.contract.program_exit import (
    MAX_ERROR_BYTES,
    TIMED_OUT,
    ProgramExit,
    envelope_from,
    one_line,
    short_error,
)

__all__ = [
    "MAX_CONTENT_BYTES",
    "MAX_ERROR_BYTES",
    "TIMED_OUT",
    "TOO_LARGE",
    "ProgramExit",
    "content_from",
    "envelope_from",
    "error_content",
    "one_line",
    "parse",
    "render",
]

MAX_CONTENT_BYTES = 8_192
TOO_LARGE = '{"truncated":true,"reason":"large-tool-output"}'


def content_from(left: ProgramExit, *, debug: bool = False) -> str:
    """The transcript form of a program that ran: its own output on one line, or its error."""
    envelope = envelope_from(left)
    if envelope.failure is not None:
        return render(envelope)
    return _capped(one_line(clean_text(left.stdout)) or "{}", debug=debug)


def render(envelope: Envelope, *, debug: bool = False) -> str:
    """Write the transcript form where only the envelope is at hand."""
    failure = envelope.failure
    if failure is not None:
        message = failure.message
        if failure.kind is FailureKind.TIMEOUT:
            message = TIMED_OUT
        elif failure.kind is FailureKind.TOOL_NOT_FOUND:
            message = f"unknown tool: {envelope.tool or ''}"
        return error_content(message)
    result = envelope.result
    if isinstance(result, dict) and result.keys() == {"text"} and isinstance(result["text"], str):
        content = one_line(result["text"])
    else:
        content = envelope.result_json.decode()
    return _capped(content, debug=debug)


def _capped(content: str, *, debug: bool) -> str:
    return content if debug or len(content.encode()) <= MAX_CONTENT_BYTES else TOO_LARGE


def error_content(message: str) -> str:
    """An error as content, cut to what a transcript takes."""
    return encode_json({"error": short_error(message)}).decode()


def parse(text: str) -> Envelope:
    """Read the transcript form back."""
    try:
        value = decode_json(text)
    except (ValueError, RecursionError):
        return envelope_of({"text": text})
    if isinstance(value, dict) and value.keys() == {"error"} and isinstance(value["error"], str):
        return Envelope(failure=failure_of(FailureKind.EXECUTION_ERROR, value["error"]))
    return envelope_of(value)
