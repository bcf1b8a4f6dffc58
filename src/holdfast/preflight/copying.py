"""A caller's own object, copied into plain JSON: what is checked is then what runs.

Whatever the caller does to its object later changes nothing. The copy has a budget, so an object
whose parts are shared a million times over cannot become a million copies.
"""

import math
from collections.abc import Mapping
from typing import TypeAlias, cast

from holdfast.contract.json_value import MAX_DEPTH, MAX_INTEGER_BITS, JsonObject, JsonValue

TOO_DEEP = f"Arguments are nested too deeply: at most {MAX_DEPTH} levels are accepted."

_PER_VALUE = 8
"""What a value costs of the budget: more than its text, for it is an object in memory."""

_Place: TypeAlias = "tuple[_Place, str | int] | None"
"""The way to a value, innermost step last. Written out only when something is wrong."""


class NotJson(ValueError):
    """The object holds something JSON cannot; the message says what and where."""


def copy_object(given: Mapping[object, object], *, max_bytes: int) -> JsonObject:
    """Copy; raises NotJson."""
    return _Copier(max_bytes).copy_object(given, None, 1)


class _Copier:
    def __init__(self, max_bytes: int) -> None:
        self._limit = max_bytes
        self._left = max_bytes

    def copy_object(self, given: Mapping[object, object], place: _Place, depth: int) -> JsonObject:
        copied: JsonObject = {}
        for key, item in given.items():
            if not isinstance(key, str):
                raise NotJson(
                    f"Arguments must have text keys; {_written(place) or 'the top level'} has a"
                    f" key of type {type(key).__name__}."
                )
            name = self._text(key, (place, str.__str__(key)))
            copied[name] = self._copy(item, (place, name), depth)
        return copied

    def _copy(self, value: object, place: _Place, depth: int) -> JsonValue:
        self._spend(_PER_VALUE)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value, place)
        if isinstance(value, (int, float)):
            return _number(value, place)
        if depth >= MAX_DEPTH:
            raise NotJson(TOO_DEEP)
        if isinstance(value, Mapping):
            return self.copy_object(cast("Mapping[object, object]", value), place, depth + 1)
        if isinstance(value, (list, tuple)):
            members = enumerate(cast("list[object]", value))
            return [self._copy(item, (place, index), depth + 1) for index, item in members]
        raise NotJson(
            f"Argument `{_written(place)}` holds a {type(value).__name__}, which JSON cannot hold."
        )

    def _text(self, text: str, place: _Place) -> str:
        """As a plain text: a subclass can carry anything along."""
        self._spend(str.__len__(text))
        try:
            if not str.isascii(text):
                str.encode(text)
        except UnicodeEncodeError:
            shown = _written(place).encode("utf-8", "replace").decode()
            raise NotJson(f"Argument `{shown}` is not valid Unicode text.") from None
        return str.__str__(text)

    def _spend(self, cost: int) -> None:
        self._left -= cost
        if self._left < 0:
            raise NotJson(
                f"Arguments are larger than {self._limit:,} bytes, the most that is accepted."
                " Write large content to a file and pass its path."
            )


def _number(value: int | float, place: _Place) -> int | float:
    """As a plain number: a subclass can carry anything along."""
    if isinstance(value, int):
        if value.bit_length() > MAX_INTEGER_BITS:
            raise NotJson(f"Argument `{_written(place)}` is an integer of too many digits.")
        return int.__int__(value)
    if not math.isfinite(value):
        shown = float.__repr__(value)
        raise NotJson(f"Argument `{_written(place)}` must be a finite number; got {shown}.")
    return float.__float__(value)


def _written(place: _Place) -> str:
    steps: list[str | int] = []
    while place is not None:
        place, step = place
        steps.append(step)
    text = ""
    for step in reversed(steps):
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text
