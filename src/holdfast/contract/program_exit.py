"""What a program that reads JSON and prints JSON left behind, as the one answer to its call. Pure.

Who started it is not known here, nor the form its transcript has.
"""

import re
from typing import cast

import msgspec

from holdfast.contract.builders import failure_of
from holdfast.contract.envelope import Envelope, envelope_of
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject, encode_json
from holdfast.contract.truncate import cut_utf8, tail_utf8

TIMED_OUT = "tool timed out"
MAX_ERROR_BYTES = 1_000

_SHOWN_BYTES = 2_500
_LONGEST_CHARACTER = 4
_STRING_OR_BLANKS = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*"|\s+')
_BLANKS = re.compile(r"\s+")


class ProgramExit(msgspec.Struct, frozen=True, kw_only=True):
    """What a program left behind."""

    stdout: str
    stderr: str
    exit_code: int
    timed_out: bool = False
    ended_by: str | None = None
    """The signal that ended it, by its name; None: it exited."""


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
        said, further = own
        extras = {**further, **extras}
    silent = f"exit status {left.exit_code}" if left.ended_by is None else left.ended_by
    return failure_of(FailureKind.EXECUTION_ERROR, shown_error(said or silent), extras=extras)


def _own_error(said: str) -> tuple[str, JsonObject] | None:
    """A program that already wrote an error object is not wrapped a second time."""
    try:
        spoken: object = msgspec.json.decode(said)
    except (ValueError, RecursionError):
        return None
    if not isinstance(spoken, dict):
        return None
    told = cast("JsonObject", spoken)
    if not isinstance(message := told.get("error"), str):
        return None
    return message.strip(), {key: value for key, value in told.items() if key != "error"}


def shown_error(message: str) -> str:
    """An error for an envelope: its beginning as transcripts have it, and its end, which says why.

    Cut to what a transcript takes it is what `short_error` makes of the whole.
    """
    content = message.encode("utf-8", "replace")
    if len(content) <= _SHOWN_BYTES:
        return content.decode()
    head = cut_utf8(content, MAX_ERROR_BYTES + _LONGEST_CHARACTER - 1)
    tail = tail_utf8(content, _SHOWN_BYTES - len(head))
    left_out = len(content) - len(head) - len(tail)
    return f"{head.decode()}\n... [{left_out:,} bytes left out] ...\n{tail.decode()}"


def short_error(message: str) -> str:
    """An error cut to what a transcript takes, at the end of a character."""
    return cut_utf8(message.encode("utf-8", "replace"), MAX_ERROR_BYTES).decode()


def one_line(text: str) -> str:
    """Collapse line breaks, tabs and runs of blanks; text inside JSON strings is untouched."""
    trimmed = text.strip()
    if not trimmed.startswith(("{", "[", '"')):
        return _BLANKS.sub(" ", trimmed)

    def blanks(found: re.Match[str]) -> str:
        return found.group(0) if found.group(0).startswith('"') else " "

    return _STRING_OR_BLANKS.sub(blanks, trimmed)
