"""Arguments as a program gets them: the text that was sent, where it can be read in one way only.

Of a key that is there twice the last one was checked and judged; a program might take the first.
Whether the arguments fit a schema is not known here.
"""

import json

import msgspec

NOTHING = b"{}"

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_HIDDEN_COLON = b"\\u003"
"""What a colon inside of a string can also be written with."""


def as_sent(text: str | bytes) -> bytes:
    """A JSON object that was checked, as it was sent, unless a key is there twice."""
    content = (text.encode() if isinstance(text, str) else text).strip()
    if not content:
        return NOTHING
    checked = _encode(_decode(content))
    if _HIDDEN_COLON in content:
        return checked if _repeats_a_key(content) else content
    # A key that got lost has lost its colon; colons inside of strings are in both.
    return content if content.count(b":") == checked.count(b":") else checked


def _repeats_a_key(content: bytes) -> bool:
    """A closer look, at several times the cost."""
    found = False

    def look(pairs: list[tuple[str, object]]) -> None:
        nonlocal found
        found = found or len({key for key, _ in pairs}) < len(pairs)

    json.loads(content, object_pairs_hook=look, parse_int=str, parse_float=str)
    return found
