"""JSON as a short text for people and models: a heading, and a list in a list.

No text in it can begin a line of its own, and all of it is bounded.
"""

from collections.abc import Iterator

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.truncate import cut_text

LONGEST_VALUE = 400
MOST_LINES = 400
_DEEPEST = 6
_MANY = (list, tuple)
"""Values of ours may hold tuples, which are lists in JSON."""


def as_markdown(title: str, value: JsonObject) -> str:
    """The text; what is behind the last line that fits is counted."""
    lines = [f"# {_flat(title)}", "", *_lines(value, 0)]
    left = len(lines) - MOST_LINES
    if left > 0:
        lines = [*lines[:MOST_LINES], f"- ... {left} more lines; the JSON file beside has all"]
    return "\n".join(lines) + "\n"


def _lines(value: JsonValue, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _entry(f"{indent}- **{_flat(name)}**:", one, depth)
    elif isinstance(value, _MANY):
        for number, one in enumerate(value, 1):
            yield from _entry(f"{indent}- {number}.", one, depth)


def _entry(begin: str, value: JsonValue, depth: int) -> Iterator[str]:
    if isinstance(value, dict | list | tuple) and value and depth < _DEEPEST:
        yield begin
        yield from _lines(value, depth + 1)
    else:
        yield f"{begin} {_short(value)}"


def _short(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(value)
    if not value:
        return "none"
    return _flat(value) if isinstance(value, str) else f"{len(value)} more"


def _flat(text: str) -> str:
    shown = "".join(character if character.isprintable() else " " for character in text)
    return cut_text(" ".join(shown.split()), LONGEST_VALUE)
