"""The block in which an agent says how it goes on: found in its last words, and taken out of them.

Text in, text out; what the fields of the block mean is for `directive` to know.
"""

from typing import NamedTuple

from holdfast.contract.json_value import JsonObject, JsonValue, clean_text, decode_json
from holdfast.contract.late_pattern import late_pattern

TAG = "holdfast-session-loop"
_TAG = late_pattern(rf"(?ai)<(/?){TAG}[ \t]*>")
_FENCE_OPENS = late_pattern(r"(?:^|\n)[ \t]*(?:```+|~~~+)[\w-]{0,12}[ \t]*\r?\n\s*$")
_FENCE_CLOSES = late_pattern(r"^\s*?\n[ \t]*(?:```+|~~~+)[ \t]*(?=\r?\n|$)")
_FENCES = ("```", "~~~")
_LOOK_BACK = 80
"""How far before a block the beginning of a fence around it is looked for."""


class Taken(NamedTuple):
    """A text without its blocks."""

    visible: str
    block: JsonObject | None
    """What stood in the last of them; None: there was none, or it could not be read."""


def take_block(text: str) -> Taken:
    """Take all blocks out. One that is not closed goes to the end: the text was cut there."""
    pieces, bodies, place = [""], list[str](), 0
    opened: int | None = None
    for tag in _TAG.finditer(text):
        closes = bool(tag.group(1))
        if opened is None:
            pieces.append(text[place : tag.start()])
            opened, place = (None if closes else tag.end()), tag.end()
        elif closes:
            bodies.append(text[opened : tag.start()])
            opened, place = None, tag.end()
            place += _unfence(pieces, text, place)
    if opened is None:
        pieces.append(text[place:])
    else:
        bodies.append(text[opened:])
    return Taken(_joined(pieces), _read(bodies[-1]) if bodies else None)


def _unfence(pieces: list[str], text: str, place: int) -> int:
    """Take away the fence that held a block and nothing else; how much of it comes behind."""
    before = pieces[-1]
    opens = _FENCE_OPENS.search(before, max(len(before) - _LOOK_BACK, 0))
    closes = _FENCE_CLOSES.search(text[place : place + _LOOK_BACK])
    if opens is None or closes is None:
        return 0
    pieces[-1] = before[: opens.start()]
    return closes.end()


def _joined(pieces: list[str]) -> str:
    """Put what is left together. Line ends stand between, or two pieces could make another tag."""
    kept = [piece.strip("\r\n").rstrip() for piece in pieces]
    return "\n\n".join(piece for piece in kept if piece)


def _read(body: str) -> JsonObject | None:
    bare = body.strip()
    if bare.startswith(_FENCES):
        bare = bare.partition("\n")[2].rstrip("`~ \t\r\n")
    try:
        read: JsonValue = decode_json(clean_text(bare))
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None
