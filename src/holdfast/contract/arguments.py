"""Helpers for a body that reads its arguments by hand: the value, or a ready failure envelope.

path = require_string(arguments, "path", expected="relative path", tool="reader")
if isinstance(path, Envelope):
    return path
"""

from collections.abc import Mapping
from typing import cast

import msgspec

from holdfast.contract.builders import failure
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject, type_name
from holdfast.contract.late_pattern import late_pattern

UNPARSEABLE = (
    'Arguments could not be parsed as JSON. Pass an object literal, e.g. `{"path": "foo.txt"}`.'
)

_MISSING = object()
_INTEGER_TEXT = late_pattern(r"[+-]?[0-9]{1,4000}")


def require_arguments(raw: str | bytes, *, tool: str | None = None) -> JsonObject | Envelope:
    """Parse raw argument text into an object."""
    try:
        parsed: object = msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, dict):
        return cast("JsonObject", parsed)
    return failure(FailureKind.INVALID_ARGS, UNPARSEABLE, tool=tool)


def require_string(
    arguments: Mapping[str, object],
    key: str,
    *,
    expected: str,
    tool: str | None = None,
    allow_empty: bool = False,
) -> str | Envelope:
    """Take a text that must be there. A text of blanks counts; an empty one only if allowed."""
    value = arguments.get(key, _MISSING)
    if value is _MISSING:
        return _missing(key, expected, tool)
    if not isinstance(value, str):
        return _wrong_type(key, "a JSON string", value, expected, tool)
    if not value and not allow_empty:
        return _empty(key, expected, tool)
    return value


def optional_string(
    arguments: Mapping[str, object], key: str, *, expected: str, tool: str | None = None
) -> str | Envelope | None:
    """Take a text that may be absent or null."""
    value = arguments.get(key)
    if value is None or isinstance(value, str):
        return value
    return _wrong_type(key, "a JSON string", value, expected, tool)


def require_int(
    arguments: Mapping[str, object], key: str, *, expected: str, tool: str | None = None
) -> int | Envelope:
    """Take an integer, also one written as text or as a whole float."""
    value = arguments.get(key, _MISSING)
    if value is _MISSING:
        return _missing(key, expected, tool)
    match value:
        case bool():
            pass
        case int():
            return value
        case float() if value.is_integer():
            return int(value)
        case str() if _INTEGER_TEXT.fullmatch(value):
            return int(value)
        case _:
            pass
    return _wrong_type(key, "an integer", value, expected, tool)


def require_string_array(
    arguments: Mapping[str, object], key: str, *, expected: str, tool: str | None = None
) -> list[str] | Envelope:
    """Take a list of texts, also one written as JSON text; a bare text becomes a list of one."""
    value = arguments.get(key, _MISSING)
    if value is _MISSING:
        return _missing(key, expected, tool)
    if isinstance(value, str):
        value = _list_in_text(value)
    if not isinstance(value, list):
        return _wrong_type(key, "an array of strings", value, expected, tool)
    members = cast("list[object]", value)
    if not members:
        return _empty(key, expected, tool)
    if not all(isinstance(member, str) for member in members):
        return _wrong_type(key, "an array of strings", members, expected, tool)
    return cast("list[str]", members)


def _list_in_text(text: str) -> list[object]:
    try:
        decoded: object = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        decoded = None
    if isinstance(decoded, list):
        return cast("list[object]", decoded)
    trimmed = text.strip()
    return [trimmed] if trimmed else []


def _missing(key: str, expected: str, tool: str | None) -> Envelope:
    return _fault(f"Missing required argument `{key}` ({expected}).", key, expected, tool)


def _empty(key: str, expected: str, tool: str | None) -> Envelope:
    return _fault(f"Argument `{key}` must not be empty ({expected}).", key, expected, tool)


def _wrong_type(key: str, wanted: str, value: object, expected: str, tool: str | None) -> Envelope:
    message = f"Argument `{key}` must be {wanted} ({expected}). Got {type_name(value)}."
    return _fault(message, key, expected, tool)


def _fault(message: str, key: str, expected: str, tool: str | None) -> Envelope:
    return failure(FailureKind.INVALID_ARGS, message, field=key, expected=expected, tool=tool)
