"""Text in rows of a terminal, broken between words. Nothing is written here.

Terminals do not agree on how wide some characters are. The greater width is counted, so that a row
never takes two: whoever writes rows can take them back.
"""

from unicodedata import category, east_asian_width

_WIDE = frozenset("WF")
_UNSURE = frozenset({"So", "Mn", "Me", "Cf"})
_NARROWEST = 20
_DEEPER = "  "
"""How much further in a line goes on."""


def width_at_most(text: str) -> int:
    """How many columns a text takes where it takes the most."""
    if text.isascii():
        return len(text)
    return sum(2 if category(one) in _UNSURE else text_width(one) for one in text)


def rows_of(text: str, columns: int, further: str = "") -> list[str]:
    """The rows of a text; each line of it goes on behind ``further``. There is at least one."""
    room = max(columns, _NARROWEST)
    return [row for line in text.split("\n") for row in _rows(line, room, further)]


def rows_of_line(line: str, columns: int) -> list[str]:
    """The rows of one line, which goes on a little further in than it begins."""
    begins = line[: len(line) - len(line.lstrip(" "))]
    return rows_of(line, columns, begins + _DEEPER)


def _rows(line: str, columns: int, further: str) -> list[str]:
    if width_at_most(line) <= columns:
        return [line]
    rows: list[str] = []
    row = ""
    for word in _words(line):
        while width_at_most(row) + width_at_most(word.rstrip(" ")) > columns:
            if row.strip(" "):
                rows.append(row.rstrip(" "))
                row = further
                continue
            head = _head(word, columns - width_at_most(row))  # longer than a row: broken anywhere
            rows.append(row + head)
            row, word = further, word[len(head) :]
        row += word
    rows.append(row)
    return rows


def _words(line: str) -> list[str]:
    """The words with the blanks behind them; blanks at the beginning are a part of the first."""
    words: list[str] = []
    begin = 0
    for at in range(1, len(line)):
        if line[at] != " " and line[at - 1] == " " and line[begin:at].strip(" "):
            words.append(line[begin:at])
            begin = at
    return [*words, line[begin:]]


def _head(word: str, columns: int) -> str:
    """As much of a word as a row has room for, at least a character."""
    taken = 0
    for at, character in enumerate(word):
        taken += width_at_most(character)
        if taken > columns and at:
            return word[:at]
    return word


def fitting(text: str, columns: int) -> str:
    """As much as fits: a line that wraps could not be written over."""
    taken = 0
    for at, character in enumerate(text):
        taken += text_width(character)
        if taken > columns:
            return text[:at]
    return text


def text_width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(2 if east_asian_width(character) in _WIDE else 1 for character in text)
