"""How many tokens a text is, roughly: known before any model is asked, and the same for all."""

_CHARACTERS_A_TOKEN = 4


def tokens_of(text: str | bytes) -> int:
    """Characters divided by four, rounded up; at least 1. Bytes are UTF-8."""
    characters = len(text) if isinstance(text, str) else len(text.decode("utf-8", "replace"))
    return max(-(-characters // _CHARACTERS_A_TOKEN), 1)
