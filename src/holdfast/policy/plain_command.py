"""Splits a command text into words, and only a text that means the same words to every shell.

One plain command with literal words is taken; whatever a shell would expand, connect, redirect or
leave out is refused. It is no shell grammar and knows no program: it answers the words or nothing.
"""

import re

from holdfast.contract.late_pattern import late_pattern

# A newline ends a command, a NUL ends a text, a backslash takes a meaning away, and a control
# character or half a surrogate pair is nothing a person could have seen.
_NEVER = late_pattern(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\\\ud800-\udfff]")
_PIECE = late_pattern(
    r"""(?P<blank>[ \t]+)
      | '(?P<single>[^']*)'
      | "(?P<double>[^"$`]*)"
      | (?P<bare>[^ \t'"|&;<>(){}$`!\#*?\[\]]+)""",
    re.VERBOSE,
)
# bash also expands a tilde after = or : in a word that looks like an assignment.
_HOME = late_pattern(r"(?<![^=:])~")
_ASSIGNMENT = late_pattern(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


def plain_words(command: str) -> tuple[str, ...] | None:
    """The words of one plain command whose program is a bare name; None for any other text."""
    words = _words(command)
    if not words or not words[0] or "/" in words[0] or _ASSIGNMENT.match(words[0]):
        return None
    return tuple(words)


def _words(command: str) -> list[str] | None:
    if _NEVER.search(command):
        return None
    words: list[list[str]] = []
    inside = False
    place = 0
    while place < len(command):
        piece = _PIECE.match(command, place)
        if piece is None:
            return None
        place = piece.end()
        if piece["blank"]:
            inside = False
            continue
        if not inside:
            words.append([""])
            inside = True
        before = words[-1][-1][-1:]
        if piece["bare"] and _HOME.search(before + piece["bare"], len(before)):
            return None
        if text := piece["bare"] or piece["single"] or piece["double"]:
            words[-1].append(text)
    return ["".join(parts) for parts in words]
