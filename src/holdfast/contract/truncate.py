"""Cutting text for a model: beginning and end kept, the middle counted.

A help for tool authors; the runtime bounds every result by itself.
"""

DEFAULT_MODEL_CHARACTERS = 50_000
_HEAD_SHARE = 0.4
CUT_MARK = "…"
"""What ends a text that was cut. Redaction looks there for the beginning of a secret."""


def truncate_for_model(
    text: str, max_chars: int = DEFAULT_MODEL_CHARACTERS, *, hint: str = ""
) -> str:
    """Keep 40 percent of the cap from the front and the rest from the back.

    A text of exactly the cap is untouched; a cut one is longer than the cap by the marker.
    """
    if max_chars < 0:
        raise ValueError("max_chars must not be negative")
    if len(text) <= max_chars:
        return text
    head = int(max_chars * _HEAD_SHARE)
    tail = max_chars - head
    omitted = len(text) - max_chars
    marker = f"\n... [TRUNCATED: {omitted} of {len(text)} chars omitted{hint}] ...\n"
    return text[:head] + marker + text[len(text) - tail :]


def cut_text(text: str, most: int) -> str:
    """The text, or as much of it as fits into so many characters with the mark of a cut."""
    return text if len(text) <= most else f"{text[: max(most - 1, 0)]}{CUT_MARK}"[:most]


def cut_utf8(content: bytes, limit: int) -> bytes:
    """The longest beginning of at most ``limit`` bytes that ends on a character boundary."""
    if len(content) <= limit:
        return content
    end = max(limit, 0)
    while end > 0 and content[end] & 0xC0 == 0x80:
        end -= 1
    return content[:end]


def tail_utf8(content: bytes, limit: int) -> bytes:
    """The longest end of at most ``limit`` bytes that begins on a character boundary."""
    start = max(len(content) - max(limit, 0), 0)
    while start < len(content) and content[start] & 0xC0 == 0x80:
        start += 1
    return content[start:]
