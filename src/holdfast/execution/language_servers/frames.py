"""Messages out of a stream of bytes: a header that says how long, then JSON.

Pure. What is no message is passed over, and the next one is found again; what is longer than it may
be is passed over without being kept. No byte is looked at more than a few times: what a server
prints must not stop whoever else waits. What messages mean is not known here.
"""

import re
from typing import cast

import msgspec

from holdfast.contract.json_value import JsonObject

LONGEST_MESSAGE = 32 * 1024 * 1024
_LONGEST_HEADER = 4096
"""From its name to its empty line; what is longer is none."""
_BEGIN = re.compile(rb"content-length[ \t]*:[ \t]*", re.IGNORECASE)
_DIGITS = re.compile(rb"([0-9]{1,15})[ \t]*(?:\r\n|\n)")
_OVER = re.compile(rb"(?:\r?\n){2}")
_LONGEST_BEGIN = 64
"""The header's name with more blanks than anybody writes."""


def framed(message: JsonObject) -> bytes:
    """A message as it is sent."""
    body = msgspec.json.encode(message)
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class FrameReader:
    """Takes bytes as they come and gives messages as they are whole."""

    def __init__(self, longest: int = LONGEST_MESSAGE) -> None:
        self._longest = longest
        self._kept = bytearray()
        self._missing: int | None = None
        """How long the body is that comes next; None: a header does."""
        self._passing = 0
        """So many bytes of a message that is too long still come."""
        self.passed_over = 0
        """How many messages were too long or no JSON object."""

    def feed(self, piece: bytes) -> list[JsonObject]:
        """The messages that are whole with this piece."""
        if self._passing:
            passed = min(self._passing, len(piece))
            self._passing -= passed
            piece = piece[passed:]
        self._kept += piece
        found: list[JsonObject] = []
        while self._advance(found):
            pass
        return found

    @property
    def kept_bytes(self) -> int:
        """How much is remembered of what is not whole yet."""
        return len(self._kept)

    def _advance(self, found: list[JsonObject]) -> bool:
        """Take one header or one body; False: more has to come first."""
        if self._missing is None:
            return self._take_header()
        if len(self._kept) < self._missing:
            return False
        body = bytes(self._kept[: self._missing])
        del self._kept[: self._missing]
        self._missing = None
        message = _message(body)
        if message is None:
            self.passed_over += 1
        else:
            found.append(message)
        return True

    def _take_header(self) -> bool:
        begin = _BEGIN.search(self._kept)
        if begin is None:
            del self._kept[: max(0, len(self._kept) - _LONGEST_BEGIN)]
            return False
        del self._kept[: begin.start()]
        after = begin.end() - begin.start()
        another = _BEGIN.search(self._kept, after, _LONGEST_HEADER)
        until = _LONGEST_HEADER if another is None else another.start()
        length = _DIGITS.match(self._kept, after, until)
        end = _OVER.search(self._kept, after, until)
        if length is None or end is None:
            begun = length is not None or _may_become_length(self._kept[after:until])
            return self._go_on_behind(after, hopeful=begun and another is None)
        size = int(length.group(1))
        del self._kept[: end.end()]
        if size <= self._longest:
            self._missing = size
            return True
        self.passed_over += 1
        passed = min(size, len(self._kept))
        del self._kept[:passed]
        self._passing = size - passed
        return not self._passing

    def _go_on_behind(self, after: int, *, hopeful: bool) -> bool:
        """A header that is not whole: wait for the rest, or look for another one behind it."""
        if hopeful and len(self._kept) < _LONGEST_HEADER:
            return False
        del self._kept[:after]
        return True


def _may_become_length(begun: bytearray) -> bool:
    return re.fullmatch(rb"[0-9]{0,15}[ \t]*\r?", begun) is not None


def _message(body: bytes) -> JsonObject | None:
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return cast("JsonObject", value) if isinstance(value, dict) else None
