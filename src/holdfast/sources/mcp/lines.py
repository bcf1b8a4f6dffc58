"""Lines out of the pieces a program prints, bounded. Bytes in, bytes out; no message is read."""

import re
from collections.abc import Iterator

LONGEST_LINE = 16 * 1024 * 1024
MOST_VALUES = 500_000
"""So many values one message may hold: each takes many times the memory of its text."""

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


def is_crowded(text: bytes) -> bool:
    """Whether a JSON text holds more values than a message may; what stands in texts is none."""
    return _marks(text) > MOST_VALUES and _marks(_STRING.sub(b"", text)) > MOST_VALUES


def _marks(text: bytes) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")


class TooLong(ValueError):
    """A line is longer than any may be."""


class Lines:
    """What a program has printed, line by line."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The lines that end in this piece, without their ends and without empty ones; TooLong."""
        *ended, rest = piece.split(b"\n")
        for part in ended:
            self._add(part)
            line = b"".join(self._pieces).strip()
            self._pieces, self._size = [], 0
            if line:
                yield line
        self._add(rest)

    def _add(self, part: bytes) -> None:
        if not part:
            return
        self._size += len(part)
        if self._size > self._longest:
            self._pieces, self._size = [], 0
            raise TooLong
        self._pieces.append(part)
