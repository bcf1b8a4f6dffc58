"""What counts as blank around names of a manifest: the white space of Unicode. Pure."""

_BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""Not what `str.strip` takes: that includes four control characters, too."""


def trimmed(text: str) -> str:
    """Without the blanks at both ends."""
    return text.strip(_BLANKS)
