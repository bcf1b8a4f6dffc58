"""The body of an answer, unpacked as it comes and never beyond what is wanted.

A small body may unpack to any size, and a large one to nothing, so both sizes are watched while
unpacking. Pure.
"""

import zlib
from io import BytesIO
from typing import Protocol

_GZIP, _ZLIB, _RAW = 31, 15, -15
_GZIP_BEGINS = b"\x1f\x8b"
_ZLIB_BEGINS = 8
_AT_ONCE = 4 * 1024
"""What is left behind a part is copied: so much is given to it at once, and no more is left."""
_PACKED_MORE = 64 * 1024


class Unpackable(Exception):
    """The body is not what its header says."""


class _Engine(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def unconsumed_tail(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class Unpacked:
    """Takes pieces of a body; knows when there is more than is wanted."""

    def __init__(self, coding: str, most: int) -> None:
        self._coding = coding.strip().lower().removeprefix("x-")
        self.packed = self._coding in ("gzip", "deflate")
        """Whether it is a packing that is undone here; otherwise the body stays as it is."""
        self._packed_left = 2 * most + _PACKED_MORE
        """So much is read of what is packed. No packing makes a body twice as large."""
        self.truncated = False
        self._most = most
        self._size = 0
        self._body = BytesIO()
        self._engine: _Engine | None = None
        self._parts = 0
        self._pending = b""

    def feed(self, piece: bytes) -> bool:
        """Take a piece; False when no further one is wanted."""
        if self.packed:
            self._feed_packed(piece)
        else:
            self._keep(piece)
        return not self.truncated

    def body(self) -> bytes:
        """All there was, or was wanted; Unpackable when its end is missing."""
        if self._engine is not None and not self.truncated:
            raise Unpackable("it ends too early")
        return self._body.getvalue()

    def _keep(self, piece: bytes) -> None:
        room = self._most - self._size
        self._size += self._body.write(piece[:room])
        self.truncated = len(piece) > room

    def _feed_packed(self, piece: bytes) -> None:
        for begin in range(0, min(len(piece), self._packed_left), _AT_ONCE):
            self._unpack(self._pending + piece[begin : begin + _AT_ONCE])
            if self.truncated:
                return
        self._packed_left -= len(piece)
        self.truncated = self._packed_left < 0

    def _unpack(self, piece: bytes) -> None:
        self._pending = b""
        while piece and not self.truncated:
            if self._engine is None:
                if not self._begins(piece):
                    return
                self._engine = zlib.decompressobj(self._window(piece))
            try:
                self._keep(self._engine.decompress(piece, self._most - self._size + 1))
            except zlib.error:
                raise Unpackable(f"it is not packed as {self._coding}") from None
            piece = self._engine.unconsumed_tail
            if self._engine.eof:
                piece = self._engine.unused_data
                self._engine = None
                self._parts += 1

    def _begins(self, piece: bytes) -> bool:
        """Whether a part begins here. Several of gzip are one body; anything else is no part."""
        if not self._parts:
            return True
        if self._coding == "gzip" and len(piece) < len(_GZIP_BEGINS):
            self._pending = piece
            return False
        return self._coding == "gzip" and piece.startswith(_GZIP_BEGINS)

    def _window(self, piece: bytes) -> int:
        if self._coding == "gzip":
            return _GZIP
        # Some send what the standard calls deflate, others what its name says.
        return _ZLIB if piece[0] & 0x0F == _ZLIB_BEGINS else _RAW
