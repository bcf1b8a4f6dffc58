"""Results the loop has to route on: a `kind` inside the result says what it is.

The harness decides from fields, and the model continues by copying one.
"""

from typing import Literal

import msgspec

from holdfast.contract.json_value import JsonObject


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file or directory. Its path is ready to be used as the next call's argument."""

    name: str
    path: str
    type: Literal["file", "directory"]


class Listing(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="listing"):
    """What a directory holds."""

    path: str
    entries: tuple[Entry, ...]
    entry_count: int
    truncated: bool


class SearchResult(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="search"):
    """What a search by name found."""

    query: str
    entries: tuple[Entry, ...]
    match_count: int
    truncated: bool


class LineWindow(msgspec.Struct, frozen=True):
    """Which lines of a file were asked for."""

    mode: Literal["head", "tail", "range"]


class FileText(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="file", omit_defaults=True
):
    """A file's text, or a part of it."""

    path: str
    text: str
    start_line: int
    """From 1; a negative number counts from the end, and 0 means that nobody counted."""
    end_line: int
    total_line_count: int
    selected_line_count: int
    total_lines_exact: bool
    """False: the file is so large that its lines were not counted; the total is at least that."""
    truncated: bool
    newline_count: int | None = None
    """Of the whole file: what `wc -l` prints; None: nobody counted."""
    char_count: int | None = None
    """Of the text."""
    line_window: LineWindow | None = None
    """Of a read by lines: from which side it was taken."""
    note: str | None = None
    """Where the text stops, and how to go on."""
    output_path: str | None = None
    """Where the rest is: of a file that was cut, the file itself."""
    bytes_read: int | None = None
    byte_limit: int | None = None
    raw_bytes_truncated: bool | None = None
    file_size: int | None = None


class ImagePart(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="image", omit_defaults=True
):
    """A picture, by reference."""

    path: str
    media_type: str
    byte_count: int
    about: JsonObject = {}
    """What its tool says of it."""


class BinaryPart(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="binary"):
    """Bytes, by reference."""

    path: str
    media_type: str
    byte_count: int


class Image(msgspec.Struct, frozen=True):
    """What a tool returns to answer with a picture; the runtime stores it and refers to it."""

    content: bytes
    media_type: str = "image/png"
    about: JsonObject = {}
    """What is said of it beside; small, as it is neither cut nor stored."""


class Binary(msgspec.Struct, frozen=True):
    """What a tool returns to answer with bytes; the runtime stores them and refers to them."""

    content: bytes
    media_type: str = "application/octet-stream"
