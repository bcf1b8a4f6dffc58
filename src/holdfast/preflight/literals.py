"""Numbers, booleans and containers written as text: what counts as one, and what does not.

Pure text rules. `None` always means: not a spelling of that type, leave it alone.
"""

import math
from decimal import Decimal

import msgspec

from holdfast.contract.json_value import JsonValue
from holdfast.contract.late_pattern import late_pattern

WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode White_Space, spelled out so that every engine means the same."""

MAX_DIGITS = 4_000
"""Python refuses to read longer integers for good reason; so do we."""

_INTEGER = late_pattern(rf"[+-]?[0-9]{{1,{MAX_DIGITS}}}")
_DECIMAL = late_pattern(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")

_MAX_EXPONENT = 400

_TRUE = frozenset({"true", "1", "yes"})
_FALSE = frozenset({"false", "0", "no"})


def integer_in(text: str) -> int | None:
    """Read an integer: a sign and ASCII digits, or a decimal that is whole, such as 1e3."""
    if _INTEGER.fullmatch(text):
        return int(text)
    if len(text) > MAX_DIGITS or not _DECIMAL.fullmatch(text):
        return None
    number = Decimal(text)
    if abs(number.adjusted()) > _MAX_EXPONENT or number != number.to_integral_value():
        return None
    return int(number)


def number_in(text: str) -> int | float | None:
    """Read a finite number."""
    if len(text) > MAX_DIGITS or not _DECIMAL.fullmatch(text):
        return None
    number = float(text)
    if not math.isfinite(number):
        return None
    return int(text) if _INTEGER.fullmatch(text) else number


def boolean_in(text: str) -> bool | None:
    """Read true, 1, yes, false, 0 or no, in any case and with blanks around it."""
    word = text.strip(WHITE_SPACE).lower()
    if word in _TRUE:
        return True
    return False if word in _FALSE else None


def container_in(text: str) -> JsonValue:
    """Read one level of JSON; only an array or object counts."""
    try:
        decoded: JsonValue = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return None
    return decoded if isinstance(decoded, (list, dict)) else None


def is_blank(text: str) -> bool:
    """Whether there is nothing but white space."""
    return not text.strip(WHITE_SPACE)
