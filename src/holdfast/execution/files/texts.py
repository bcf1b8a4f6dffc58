"""Bytes as text, and back the same way: byte order marks, encodings, line endings.

No file is opened here.
"""

import codecs
import hashlib
from typing import Literal, NamedTuple, Protocol

from holdfast.contract.errors import BinaryFile, InvalidArguments
from holdfast.contract.files import FileText

Newline = Literal["\n", "\r\n", "\r"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig", "utf-8"),
    # Before its shorter brother, with whose mark it begins.
    (codecs.BOM_UTF32_LE, "utf-32-le", "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16-be"),
)
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x7fELF", "a program (ELF)"),
    (b"SQLite format 3\0", "an SQLite database"),
)


def revision_of(content: bytes) -> str:
    """Stands for exactly this content."""
    digest = new_digest()
    digest.update(content)
    return digest.hexdigest()


class Digest(Protocol):
    """A revision in the making."""

    def update(self, piece: bytes, /) -> None:
        """The next piece of the content."""
        ...

    def hexdigest(self) -> str:
        """The revision of all pieces so far."""
        ...


def new_digest() -> Digest:
    """To build the same from pieces. SHA-256: processors help with it."""
    return hashlib.sha256()


def text_of_file(content: bytes, shown: str, encoding: str | None = None) -> FileText:
    """Decode a file; BinaryFile when it is no text, InvalidArguments for an unknown encoding."""
    if encoding is None:
        mark, name, text = _detected(content, shown)
    else:
        mark, name, text = b"", *_as_told(content, shown, encoding)
    return FileText(
        text=text,
        encoding=name,
        mark=mark,
        newline=usual_newline(text),
        byte_count=len(content),
        revision=revision_of(content),
    )


def _detected(content: bytes, shown: str) -> tuple[bytes, str, str]:
    for mark, name, codec in _MARKS:
        text = _decoded(content[len(mark) :], codec) if content.startswith(mark) else None
        if text is not None:
            return mark, name, text
    text = _decoded(content, "utf-8")
    if text is None:
        raise BinaryFile(f"{shown} is {_what(content)}, not text ({len(content):,} bytes).")
    return b"", "utf-8", text


def _decoded(content: bytes, codec: str) -> str | None:
    try:
        text = content.decode(codec)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _what(content: bytes) -> str:
    return next((said for begins, said in _SIGNATURES if content.startswith(begins)), "binary")


def _as_told(content: bytes, shown: str, encoding: str) -> tuple[str, str]:
    try:
        name = codecs.lookup(encoding).name
        return name, content.decode(name)
    except UnicodeDecodeError as problem:
        raise BinaryFile(
            f"{shown} cannot be read as {encoding}: the byte at position {problem.start:,} of"
            f" {len(content):,} does not fit."
        ) from None
    except (LookupError, ValueError):
        # ValueError: a name with characters that no encoding has.
        raise InvalidArguments(
            f"There is no text encoding {encoding!r}.",
            field="encoding",
            expected="the name of a text encoding, e.g. `utf-8`, `latin-1` or `cp1252`",
        ) from None


def usual_newline(text: str) -> Newline:
    """The line ending a text mostly has; a line feed where it has none."""
    if "\r" not in text:
        return "\n"
    counted = _counted(text)
    return max(counted, key=lambda ending: counted[ending])


def _counted(text: str) -> dict[Newline, int]:
    both = text.count("\r\n")
    return {"\n": text.count("\n") - both, "\r\n": both, "\r": text.count("\r") - both}


class Editable(NamedTuple):
    """A text as it is changed: with line feeds alone where the file has one kind of ending."""

    text: str
    only: Newline
    """What line feeds become again. A line feed: they stay."""

    def restored(self, changed: str) -> str:
        """A changed text with the file's line endings."""
        if self.only == "\n":
            return changed
        return changed.replace("\r\n", "\n").replace("\n", self.only)


def editable(text: str) -> Editable:
    """Take the line endings out, where they can be put back exactly."""
    only = usual_newline(text)
    if only == "\n":
        return Editable(text, "\n")
    counted = _counted(text)
    if counted[only] != sum(counted.values()):
        return Editable(text, "\n")
    return Editable(text.replace(only, "\n"), only)


def encoded(text: str, shown: str, encoding: str = "utf-8", mark: bytes = b"") -> bytes:
    """A text as bytes; InvalidArguments when it holds what the encoding cannot."""
    try:
        return mark + text.encode("utf-8" if encoding == "utf-8-sig" else encoding)
    except UnicodeEncodeError as problem:
        raise InvalidArguments(
            f"The text for {shown} cannot be written as {encoding}: the character at position"
            f" {problem.start:,} is {problem.object[problem.start]!a}.",
            field="content",
        ) from None
