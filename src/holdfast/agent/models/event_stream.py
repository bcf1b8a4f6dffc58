"""Server-sent events out of bytes, wherever the pieces are cut. It knows nothing of what they say.

Only what an event says is given, not what it is called: every provider says that inside, too.
"""

from collections.abc import Iterator

_BOM = b"\xef\xbb\xbf"


class EventStream:
    """Takes pieces, gives what complete events say."""

    def __init__(self) -> None:
        self._open: list[bytes] = []
        """The line that has no end yet, in pieces: a long one is put together once."""
        self._said: list[bytes] = []
        """The event that has no end yet, by lines."""
        self._has_begun = False
        self._after_return = False
        """Whether the last piece ended in a carriage return, which may be half of a line's end."""

    @property
    def is_open(self) -> bool:
        """Whether something has begun and not ended."""
        return bool(self._open or self._said)

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The events that end in this piece."""
        piece = self._with_plain_ends(piece)
        if not piece:
            return
        self._has_begun = self._has_begun or not (self._open or piece[:1] == _BOM[:1])
        if self._has_begun and not self.is_open and piece.endswith(b"\n\n"):
            yield from self._whole_events(piece)
            return
        if b"\n" not in piece:
            self._open.append(piece)
            return
        first, *lines = piece.split(b"\n")
        if self._open:
            first = b"".join([*self._open, first])
            self._open = []
        rest = lines.pop()
        if rest:
            self._open.append(rest)
        yield from self._events_of([first, *lines])

    def end(self) -> Iterator[bytes]:
        """What is left when the stream has ended: some servers forget the last empty line."""
        if self._open:
            self._line(b"".join(self._open))
            self._open = []
        if self._said:
            yield b"\n".join(self._said)
            self._said = []

    def _with_plain_ends(self, piece: bytes) -> bytes:
        """A piece whose lines all end in the same way; a carriage return may be half of an end."""
        if self._after_return and piece.startswith(b"\n"):
            piece = piece[1:]
            self._after_return = False
        if not piece:
            return b""
        self._after_return = piece.endswith(b"\r")
        if b"\r" in piece:
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return piece

    def _whole_events(self, piece: bytes) -> Iterator[bytes]:
        """Those of a piece that holds whole events only, as nearly all do."""
        for event in piece[:-2].split(b"\n\n"):
            if event.startswith(b"data: ") and event.find(b"\n") < 0:  # `in` makes an error first
                yield event[6:]
            else:
                yield from self._events_of([*event.split(b"\n"), b""])

    def _events_of(self, lines: list[bytes]) -> Iterator[bytes]:
        for line in lines:
            if (said := self._line(line)) is not None:
                yield said

    def _line(self, line: bytes) -> bytes | None:
        if not self._has_begun:
            self._has_begun = True
            line = line.removeprefix(_BOM)
        if not line:
            if not self._said:
                return None
            said = self._said[0] if len(self._said) == 1 else b"\n".join(self._said)
            self._said = []
            return said
        if line.startswith(b"data:"):
            self._said.append(line[6:] if line.startswith(b"data: ") else line[5:])
        elif line == b"data":
            self._said.append(b"")
        return None
