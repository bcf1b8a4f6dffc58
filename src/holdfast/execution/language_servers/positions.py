"""Columns as people count them, and as a language server does.

Pure. People count characters from 1; servers count code units of UTF-16 from 0, or bytes of UTF-8,
or characters, as was agreed with them. A line may have millions: none is counted one by one.
"""

import re
from typing import Literal, TypeGuard, get_args

PositionEncoding = Literal["utf-16", "utf-8", "utf-32"]
POSITION_ENCODINGS: tuple[PositionEncoding, ...] = get_args(PositionEncoding)

_ENDING = re.compile("\r\n|\n|\r")


def is_position_encoding(value: object) -> TypeGuard[PositionEncoding]:
    """Whether it is one that can be counted in here."""
    return value in POSITION_ENCODINGS


def lines_of(text: str) -> list[str]:
    """The lines of a text as servers number them; at least one."""
    return _ENDING.split(text)


def units_before(line: str, column: int, encoding: PositionEncoding) -> int:
    """How many units stand in front of the column; behind the end it is the end."""
    return _units(line[: max(0, column - 1)], encoding)


def column_at(line: str, units: int, encoding: PositionEncoding) -> int:
    """The column that so many units stand in front of; within a character: that character's."""
    passed, most, left = 0, min(len(line), units), units
    while passed < most:
        middle = (passed + most + 1) // 2
        taken = _units(line[passed:middle], encoding)
        if taken <= left:
            passed, left = middle, left - taken
        else:
            most = middle - 1
    return passed + 1


def _units(text: str, encoding: PositionEncoding) -> int:
    if encoding == "utf-32":
        return len(text)
    if encoding == "utf-16":
        return len(text.encode("utf-16-le", "surrogatepass")) // 2
    return len(text.encode("utf-8", "surrogatepass"))
