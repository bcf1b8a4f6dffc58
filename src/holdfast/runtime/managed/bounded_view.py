"""Values as much as a model has to see of them: long texts and lists cut, deep ones flattened.

Pure. What the values are of is not known here.
"""

from collections.abc import Sequence

from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.contract.truncate import cut_text

LONGEST_TEXT = 2000
_TEXTS = (LONGEST_TEXT, 400, 80)
"""How long a text may be, from the first try to the last."""
_MOST_ITEMS = 50
_DEEPEST = 8
MOST_BYTES = 8000
"""Of one value, as JSON: what is larger is cut more."""
_LEFT_OUT = "…"


def bounded_object(value: JsonObject) -> JsonObject:
    """As much of it as is worth showing."""
    shown = bounded(value)
    return shown if isinstance(shown, dict) else {_LEFT_OUT: shown}


def bounded(value: JsonValue) -> JsonValue:
    """As much of a value as is worth showing."""
    for longest in _TEXTS:
        found = _cut(value, longest, _MOST_ITEMS * longest // LONGEST_TEXT or 1, _DEEPEST)
        if len(encode_json(found)) <= MOST_BYTES:
            return found
    return f"{len(encode_json(value))} bytes"


def _cut(value: JsonValue, longest: int, items: int, depth: int) -> JsonValue:
    if isinstance(value, str):
        return cut_text(value, longest)
    if isinstance(value, list):
        return _items(value, longest, items, depth)
    if isinstance(value, dict):
        if not depth:
            return _LEFT_OUT
        # The names are few and those of a kind; what stands under them is what can be long.
        shown = list(value.items())[:_MOST_ITEMS]
        cut = {cut_text(key, longest): _cut(one, longest, items, depth - 1) for key, one in shown}
        left = len(value) - len(shown)
        return {**cut, _LEFT_OUT: f"{left} more"} if left else cut
    return value


def _items(value: Sequence[JsonValue], longest: int, items: int, depth: int) -> JsonValue:
    if not depth:
        return _LEFT_OUT
    cut = [_cut(one, longest, items, depth - 1) for one in value[:items]]
    left = len(value) - len(cut)
    return [*cut, f"… {left} more"] if left else cut
