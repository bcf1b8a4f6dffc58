"""Columns as people count them, and as a language server does.

Pure. People count characters from 1; servers count code units of UTF-16 from 0, or bytes of UTF-8,
or characters, as was agreed with them.
"""

import re
from typing import Literal, TypeGuard, get_args

PositionEncoding = Literal["utf-16", "utf-8", "utf-32"]

_ENDING = re.compile("\r\n|\n|\r")
_BEYOND_ONE_UNIT = 0xFFFF


def is_position_encoding(value: object) -> TypeGuard[PositionEncoding]:
    """Whether it is one that can be counted in here."""
    return value in get_args(PositionEncoding)


def lines_of(text: str) -> list[str]:
    """The lines of a text as servers number them; at least one."""
    return _ENDING.split(text)


def units_before(line: str, column: int, encoding: PositionEncoding) -> int:
    """How many units stand in front of the column; behind the end it is the end."""
    return sum(_units(character, encoding) for character in line[: max(0, column - 1)])


def column_at(line: str, units: int, encoding: PositionEncoding) -> int:
    """The column that so many units stand in front of; within a character: that character's."""
    passed = 0
    for column, character in enumerate(line, 1):
        passed += _units(character, encoding)
        if passed > units:
            return column
    return len(line) + 1


def _units(character: str, encoding: PositionEncoding) -> int:
    if encoding == "utf-32":
        return 1
    if encoding == "utf-16":
        return 2 if ord(character) > _BEYOND_ONE_UNIT else 1
    return len(character.encode("utf-8", "surrogatepass"))
