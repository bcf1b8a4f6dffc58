"""Text in quotes, as the errors of manifests show it: on one line, whatever it holds. Pure."""

_SHORT = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": r"\\",
    '"': r"\"",
}
_ONE_BYTE = 0x80
_TWO_BYTES = 0x10000


def quoted(text: str) -> str:
    """The text in double quotes; what cannot be seen is written as an escape."""
    return f'"{"".join(map(_shown, text))}"'


def _shown(character: str) -> str:
    short = _SHORT.get(character)
    if short is not None:
        return short
    if character.isprintable():
        return character
    code = ord(character)
    if code < _ONE_BYTE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < _TWO_BYTES else f"\\U{code:08x}"
