"""The plain form of tool programs: what came out, on one line, or ``{"error": "..."}``.

Reads what a program left behind, and writes the form its transcript uses. It starts nothing.
"""

import re

import msgspec

from holdfast.contract.builders import failure_of
from holdfast.contract.envelope import Envelope, envelope_of
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import (
    JsonObject,
    JsonValue,
    clean_text,
    decode_json,
    encode_json,
)
from holdfast.contract.truncate import cut_utf8

TIMED_OUT = "tool timed out"
MAX_ERROR_BYTES = 1_000
MAX_CONTENT_BYTES = 8_192
TOO_LARGE = '{"truncated":true,"reason":"large-tool-output"}'

_STRING_OR_BLANKS = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*"|\s+')
_BLANKS = re.compile(r"\s+")


class ProgramExit(msgspec.Struct, frozen=True, kw_only=True):
    """What a program left behind."""

    stdout: str
    stderr: str
    exit_code: int
    timed_out: bool = False


def envelope_from(left: ProgramExit, *, tool: str | None = None) -> Envelope:
    """The canonical answer of a program that ran."""
    if left.timed_out:
        extras = {"stdout": left.stdout, "stderr": left.stderr}
        failure = failure_of(FailureKind.TIMEOUT, TIMED_OUT, extras=extras)
        return Envelope(failure=failure, tool=tool)
    if left.exit_code != 0:
        return Envelope(failure=_failed(left), tool=tool)
    output = left.stdout.strip()
    if not output:
        return envelope_of({}, tool=tool)
    try:
        return Envelope(result_json=encode_json(msgspec.json.decode(output)), tool=tool)
    except (ValueError, RecursionError):
        return envelope_of({"text": one_line(output)}, tool=tool)


def _failed(left: ProgramExit) -> Failure:
    extras: JsonObject = {
        "exit_code": left.exit_code,
        "stdout": left.stdout,
        "stderr": left.stderr,
    }
    said = left.stderr.strip()
    own = _own_error(said)
    if own is not None:
        message, further = own
        return failure_of(FailureKind.EXECUTION_ERROR, message, extras={**further, **extras})
    return failure_of(
        FailureKind.EXECUTION_ERROR, said or f"exit status {left.exit_code}", extras=extras
    )


def _own_error(said: str) -> tuple[str, JsonObject] | None:
    """A program that already wrote an error object is not wrapped a second time."""
    try:
        spoken: JsonValue = msgspec.json.decode(said)
    except (ValueError, RecursionError):
        return None
    if not isinstance(spoken, dict) or not isinstance(message := spoken.get("error"), str):
        return None
    return message, {key: value for key, value in spoken.items() if key != "error"}


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
    shown = cut_utf8(message.encode("utf-8", "replace"), MAX_ERROR_BYTES).decode()
    return encode_json({"error": shown}).decode()


def parse(text: str) -> Envelope:
    """Read the transcript form back."""
    try:
        value = decode_json(text)
    except (ValueError, RecursionError):
        return envelope_of({"text": text})
    if isinstance(value, dict) and value.keys() == {"error"} and isinstance(value["error"], str):
        return Envelope(failure=failure_of(FailureKind.EXECUTION_ERROR, value["error"]))
    return envelope_of(value)


def one_line(text: str) -> str:
    """Collapse line breaks, tabs and runs of blanks; text inside JSON strings is untouched."""
    trimmed = text.strip()
    if not trimmed.startswith(("{", "[", '"')):
        return _BLANKS.sub(" ", trimmed)

    def blanks(found: re.Match[str]) -> str:
        return found.group(0) if found.group(0).startswith('"') else " "

    return _STRING_OR_BLANKS.sub(blanks, trimmed)
