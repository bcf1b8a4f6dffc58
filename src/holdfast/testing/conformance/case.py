"""What a case is and how answers are compared. It knows no suite."""

from collections.abc import Callable, Iterator
from typing import TypeAlias, cast

from holdfast.contract.json_value import JsonObject, JsonValue

Case: TypeAlias = JsonObject

Check: TypeAlias = Callable[[Case], Iterator[str]]
"""Yields what differs from the case's expectation: nothing when it passes."""


class NotForUs(Exception):
    """Raised by a check for a case of a part that this version does not have or that is prose."""


def same(found: JsonValue, wanted: JsonValue) -> bool:
    """Equal as JSON: numbers by value, booleans apart from numbers."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(found, dict) and isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(
            same(found[key], wanted[key]) for key in wanted
        )
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return found == wanted


def differs(what: str, found: object, wanted: JsonValue) -> Iterator[str]:
    """One line when the two are not the same."""
    if not same(cast("JsonValue", found), wanted):
        yield f"{what}: expected {wanted!r}, got {found!r}"


def part(case: Case, key: str) -> JsonObject:
    """A member of the case that must be an object."""
    value = case.get(key)
    if not isinstance(value, dict):
        raise ValueError(f"the case has no object {key!r}")
    return value


def text(case: Case, key: str) -> str:
    """A member of the case that must be a text."""
    value = case.get(key)
    if not isinstance(value, str):
        raise ValueError(f"the case has no text {key!r}")
    return value


def texts(case: Case, key: str) -> list[str]:
    """A member of the case that is a list of texts, or absent."""
    value = case.get(key, [])
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
