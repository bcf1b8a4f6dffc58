"""Checks on the bare characters of a command text, before any grammar is asked.

Whatever a person cannot see, or bash and the grammar may see differently, is a doubt.
"""

import unicodedata

from holdfast.contract.late_pattern import late_pattern

LONGEST_TEXT = 8 * 1024
# The grammar's time grows with the square of these.
MOST_PIPES_AND_REDIRECTIONS = 256

_CONTROL = late_pattern(r"[\x00-\x08\x0b-\x1f\x7f]")
# Spellings that the grammar reads without complaint, but otherwise than bash.
_MISREAD = (
    (late_pattern(r"[^ \t\n]\\\n"), "a line end in the middle of a word"),
    (late_pattern(r"\{\w+\}[<>]"), "a redirection that sets a variable"),
)
_SURROGATE = late_pattern("[\ud800-\udfff]")
_LOOKS_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})


def unreadable(text: str) -> str | None:
    """Why the text is not looked at at all, or None."""
    size = len(text)
    if size <= LONGEST_TEXT and not text.isascii():
        if _SURROGATE.search(text):
            return "the text is not valid Unicode"
        size = len(text.encode())
    if size > LONGEST_TEXT:
        return f"the text is longer than {LONGEST_TEXT} bytes"
    if "\0" in text:
        return "the text holds a NUL character"
    if text.count("|") + text.count("<") > MOST_PIPES_AND_REDIRECTIONS:
        return f"the text holds more than {MOST_PIPES_AND_REDIRECTIONS} pipes and redirections"
    return None


def strange_characters(text: str) -> list[str]:
    """What in the text a person cannot see or may take for something else."""
    doubts: list[str] = []
    if found := _CONTROL.search(text):
        doubts.append(f"the text holds the control character U+{ord(found[0]):04X}")
    doubts.extend(doubt for pattern, doubt in _MISREAD if pattern.search(text))
    if not text.isascii():
        doubts.extend(_unseen(text))
    return doubts


def _unseen(text: str) -> list[str]:
    found = {
        char
        for char in text
        if char > "~" and (unicodedata.category(char) in _UNSEEN or char in _LOOKS_BLANK)
    }
    return [f"the text holds the invisible character U+{ord(char):04X}" for char in sorted(found)]
