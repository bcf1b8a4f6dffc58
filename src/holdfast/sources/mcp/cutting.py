"""Text of servers, cut so that a secret that was cut with it is known for one.

Secrets are taken out of what is shown afterwards: of a text that ends in the mark, also the
beginning of one.
"""

_MARK = "…"


def cut(text: str, most: int) -> str:
    """The text, or so much of it and the mark."""
    return text if len(text) <= most else f"{text[: most - 1]}{_MARK}"
