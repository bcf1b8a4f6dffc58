"""JSON as people write it: with comments and a comma behind the last value.

Text in, value out; a mistake names its line and column. What stands in it is not known here.
"""

import re

from holdfast.contract.json_value import JsonValue, decode_json
from holdfast.contract.late_pattern import late_pattern

_STRING = r'"(?:[^"\\]|\\.)*+"?'
_COMMENT = late_pattern(rf"(?s){_STRING}|//[^\r\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?")
"""Strings are among what is found, so that nothing inside of one is. None of it can fail behind its
first characters: a text of a million of these is read once."""
_COMMA = late_pattern(
    rf"(?s){_STRING}|(?P<nothing>[\[{{,:][ \t\r\n]*+,)|(?P<last>,)(?=[ \t\r\n]*+[\]}}])"
)
_WRITTEN = late_pattern(r"[^\r\n]")
_BYTE = late_pattern(r" \(byte (\d+)\)$")


class NoJson(ValueError):
    """A text that cannot be read; the message says where and why."""


def read_json(text: str) -> tuple[JsonValue, bool]:
    """The value, and whether the text is plain JSON; NoJson where it is not even like it."""
    try:
        return decode_json(text.encode()), True
    except (ValueError, RecursionError):
        pass
    plainer = without_comments(text)
    try:
        return decode_json(plainer.encode()), False
    except RecursionError:
        raise NoJson("it nests too deeply") from None
    except ValueError as problem:
        raise NoJson(_placed(str(problem), plainer)) from None


def without_comments(text: str) -> str:
    """The text with blanks for comments and last commas: everything else stays in its place."""
    return _COMMA.sub(_without_comma, _COMMENT.sub(_without_comment, text))


def _without_comment(found: re.Match[str]) -> str:
    written = found[0]
    is_open = written.startswith("/*") and (len(written) < len("/**/") or written[-2:] != "*/")
    return written if written[0] == '"' or is_open else _WRITTEN.sub(" ", written)


def _without_comma(found: re.Match[str]) -> str:
    return found[0] if found["last"] is None else " "


def _placed(said: str, text: str) -> str:
    """What is wrong, with the line and column where it is, or where the text ends."""
    at = _BYTE.search(said)
    whole = text.encode()
    before = (whole if at is None else whole[: int(at[1])]).decode(errors="ignore")
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    reason = said if at is None else said[: at.start()]
    return f"line {line}, column {column}: {reason.removeprefix('JSON is malformed: ')}"
