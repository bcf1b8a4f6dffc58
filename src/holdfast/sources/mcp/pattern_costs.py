"""What the patterns in a server's schemas cost to compile, guessed from their text, and bounded.

A pattern of a dozen characters can stand for a machine of megabytes. Whoever compiles it waits, and
nobody can stop that; so what is too much is left out before. Nothing is compiled here.
"""

from collections.abc import Iterator

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.late_pattern import late_pattern

MOST_COST = 1500
"""For all tools of a server together: a few seconds at the very most, and usually nothing."""

_REPEATS = late_pattern(r"\{(\d*)(?:,(\d*))?\}")
_WIDE = late_pattern(r"\\[wWdDsSbBpP]|\(\?|\[\^|\\u|\.")
"""Classes of thousands of characters, and what looks ahead."""
_LIGHT = 20
_MOST_COUNTED = 10_000_000


def pattern_cost(schemas: JsonValue) -> int:
    """What all patterns in there cost, in steps of our own."""
    return sum(map(_cost, _patterns(schemas)))


def _cost(pattern: str) -> int:
    size = 1
    for found in _REPEATS.finditer(pattern):
        numbers = [int(one[:9]) for one in found.groups() if one]
        # One may stand in another: then they multiply.
        size = min(size * max(numbers, default=1), _MOST_COUNTED)
    whole = len(pattern) + size
    return whole if _WIDE.search(pattern) else whole // _LIGHT


def _patterns(value: JsonValue) -> Iterator[str]:
    waiting: list[JsonValue] = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            yield from _own(node)
            waiting.extend(node.values())


def _own(node: JsonObject) -> Iterator[str]:
    pattern, named = node.get("pattern"), node.get("patternProperties")
    if isinstance(pattern, str):
        yield pattern
    if isinstance(named, dict):
        yield from named
