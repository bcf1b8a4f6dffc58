"""Text of others in a line of ours: nothing in it can begin a line of its own."""

from holdfast.contract.truncate import cut_text


def one_line(text: str, most: int | None = None) -> str:
    """The text without line ends and other characters that are not shown, cut to ``most``."""
    shown = "".join(character if character.isprintable() else " " for character in text)
    flat = " ".join(shown.split())
    return flat if most is None else cut_text(flat, most)
