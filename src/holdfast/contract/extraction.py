"""Foreign bytes as a tool has them read: documents to text, pictures to facts and a smaller copy.

Whoever reads them stands apart: what a hostile file does to its reader is a failure of the call and
of nothing else.
"""

from typing import Literal, Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.errors import ToolError

DocumentKind = Literal["html", "text", "pdf"]


class Unreadable(ToolError):
    """The bytes are not what they should be, or their reader broke over them; it will again."""

    retryable = False


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes that hold a text."""

    content: bytes
    kind: DocumentKind
    charset: str | None = None
    """As its sender says."""
    url: str = ""
    """Where it is from: its links begin there."""


class DocumentText(msgspec.Struct, frozen=True, kw_only=True):
    """The text of a document."""

    text: str
    note: str | None = None
    """What is not in it, or might be expected of it and is not so."""


class PictureBounds(msgspec.Struct, frozen=True, kw_only=True):
    """How large a copy may be, and what is decoded at all."""

    side: int = 1568
    """Pixels of its longer side: beyond that, models see no more."""
    max_bytes: int = 1_000_000
    pixels: int = 50_000_000
    """What a picture may declare."""


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """What a picture is, and the copy."""

    format: str
    width: int
    height: int
    mode: str
    """How its pixels are kept: `RGB`, `RGBA`, `L`, `P` ..."""
    frames: int
    copy_width: int
    copy_height: int
    media_type: str
    """Of the copy."""
    content: bytes = b""
    """The copy."""


class Extraction(CallPort, Protocol):
    """Reads foreign bytes. Unreadable says that they cannot be; Unavailable, what is missing."""

    async def text(self, document: Document, /) -> DocumentText:
        """The text of a document."""
        ...

    async def picture(self, content: bytes, bounds: PictureBounds, /) -> Picture:
        """What a picture is, and a copy within bounds."""
        ...
