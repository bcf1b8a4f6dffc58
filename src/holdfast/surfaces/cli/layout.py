"""JSON for reading: what fits on a line stays on it. Text only."""

import json

from holdfast.contract.json_value import JsonValue

_STEP = 2


def laid_out(value: JsonValue, width: int) -> str:
    """Spread the value over lines of about this width; the outermost level always."""
    return _spread(value, width, 0)


def on_a_line(value: JsonValue, width: int) -> str:
    """The value on one line where it fits, else spread."""
    return _fitted(value, width, 0, 0)


def _spread(value: JsonValue, width: int, margin: int) -> str:
    inner = margin + _STEP
    if isinstance(value, dict) and value:
        named = ((f"{_flat(key)}: ", item) for key, item in value.items())
        members = [name + _fitted(item, width, inner, len(name)) for name, item in named]
        return _joined("{", members, "}", margin)
    if isinstance(value, list) and value:
        members = [_fitted(item, width, inner, 0) for item in value]
        return _joined("[", members, "]", margin)
    return _flat(value)


def _fitted(value: JsonValue, width: int, margin: int, taken: int) -> str:
    flat = _flat(value)
    fits = margin + taken + len(flat) < width
    return flat if fits else _spread(value, width, margin)


def _joined(opening: str, members: list[str], closing: str, margin: int) -> str:
    break_ = "\n" + " " * margin
    inside = f",{break_}{' ' * _STEP}".join(members)
    return f"{opening}{break_}{' ' * _STEP}{inside}{break_}{closing}"


def _flat(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)
