"""Bytes of a keyboard in, keys out. Whatever comes is some key, and nothing is read here.

A terminal sends several bytes for one key, and they may come in pieces; an escape alone is known to
be one only when nothing comes behind it, which is said by whoever reads (`rest`).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_CONTROL = re.compile(rb"\x1b\[([0-?]*)[ -/]*([@-~])")
_BEGUN = re.compile(rb"\x1b(\[[0-?]*[ -/]*|O)?")
_LONGEST = 32
"""Of a sequence that has no end: more is none."""
_PASTE_ENDS = b"\x1b[201~"
MOST_PASTED = 65_536
"""Bytes of one paste that are taken; the rest of it is dropped."""
_BY_LETTER = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "H": "home",
    "F": "end",
    "Z": "back-tab",
}
_BY_NUMBER = {
    "1": "home",
    "3": "delete",
    "4": "end",
    "5": "page-up",
    "6": "page-down",
    "7": "home",
    "8": "end",
}
_SINGLE = {0x0D: "enter", 0x0A: "enter", 0x09: "tab", 0x7F: "backspace", 0x08: "backspace"}
_ESCAPE = 0x1B
_BLANK = 0x20
_LETTERS = 26


class Key(NamedTuple):
    """One key, or a text that was pasted."""

    name: str
    """`text` and `paste` have a text; `unknown` is any that nothing here means."""
    text: str = ""


class Keys:
    """One keyboard."""

    def __init__(self) -> None:
        self._bytes = b""
        self._pasted: bytearray | None = None

    @property
    def waits(self) -> bool:
        """Whether something was begun that has no end yet."""
        return bool(self._bytes) and self._pasted is None

    def feed(self, read: bytes) -> Iterator[Key]:
        """More bytes; the keys that are whole by them."""
        self._bytes += read
        while self._bytes:
            key, used = self._paste() if self._pasted is not None else self._next()
            if not used:
                return
            self._bytes = self._bytes[used:]
            if key is not None:
                yield key

    def rest(self) -> Iterator[Key]:
        """Nothing came behind what was begun: it is what it is."""
        if not self.waits:
            return
        begun, self._bytes = self._bytes, b""
        yield Key("escape") if begun == b"\x1b" else Key("unknown")

    def _next(self) -> tuple[Key | None, int]:
        first = self._bytes[0]
        if first == _ESCAPE:
            return self._escaped()
        if first in _SINGLE:
            return Key(_SINGLE[first]), 1
        if first < _BLANK:
            name = f"ctrl-{chr(first + 0x60)}" if 0 < first <= _LETTERS else "unknown"
            return Key(name), 1
        return self._text()

    def _escaped(self) -> tuple[Key | None, int]:
        found = _CONTROL.match(self._bytes)
        if found is not None:
            numbers, letter = found[1].decode(), found[2].decode()
            if (numbers, letter) == ("200", "~"):
                self._pasted = bytearray()
                return None, found.end()
            return Key(_named(numbers, letter)), found.end()
        if self._bytes.startswith(b"\x1bO") and len(self._bytes) > len(b"\x1bO"):
            return Key(_BY_LETTER.get(chr(self._bytes[2]), "unknown")), 3
        begun = _BEGUN.match(self._bytes)
        used = 0 if begun is None else begun.end()
        if used == len(self._bytes) and used < _LONGEST:
            return None, 0  # more of it may come
        # A key with Alt, or no sequence that a keyboard sends.
        return Key("unknown"), max(used, 2)

    def _text(self) -> tuple[Key | None, int]:
        """The first character, or what is none."""
        length = _length(self._bytes[0])
        piece = self._bytes[:length]
        try:
            text = piece.decode()
        except UnicodeDecodeError as problem:
            if len(piece) < length and problem.end == len(piece):
                return None, 0  # the others of it may come
            return Key("unknown"), 1
        return (Key("text", text) if text.isprintable() else Key("unknown")), length

    def _paste(self) -> tuple[Key | None, int]:
        pasted = self._pasted if self._pasted is not None else bytearray()
        at = self._bytes.find(_PASTE_ENDS)
        # The end of what came may be the beginning of the end.
        taken = at if at >= 0 else max(len(self._bytes) - len(_PASTE_ENDS) + 1, 0)
        pasted += self._bytes[: min(taken, MOST_PASTED - len(pasted))]
        if at < 0:
            return None, taken
        self._pasted = None
        text = pasted.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        return Key("paste", text), at + len(_PASTE_ENDS)


def _named(numbers: str, letter: str) -> str:
    if letter == "~":
        return _BY_NUMBER.get(numbers.partition(";")[0], "unknown")
    return _BY_LETTER.get(letter, "unknown")


def _length(first: int) -> int:
    """How many bytes the character has that begins so."""
    for least, length in ((0xF0, 4), (0xE0, 3), (0xC0, 2)):
        if first >= least:
            return length
    return 1
