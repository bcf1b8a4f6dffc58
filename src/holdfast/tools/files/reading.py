"""Reading a file for a model: by bytes, by lines, from its end, or a directory's entries.

Text alone. What an answer holds at most is told by the host; no more than a block of a file is in
memory beside it, however large the file is.
"""

import msgspec

from holdfast.contract.errors import (
    BinaryFile,
    InvalidArguments,
    OperationFailed,
    ToolError,
    Unavailable,
)
from holdfast.contract.file_bounds import FileBounds
from holdfast.contract.files import FileFacts, Files, OpenFile
from holdfast.contract.results import Entry, FileText, LineWindow, Listing
from holdfast.contract.runtime import AbortSignal, Runtime
from holdfast.contract.truncate import cut_utf8, tail_utf8
from holdfast.tools.files import line_counts
from holdfast.tools.files.missing import hinting

MOST_ENTRIES = 1000
MOST_COUNTED = 32 * 1024 * 1024
"""Bytes that are read only to count the lines in them."""
LOOKED_AT = 8 * 1024
"""Bytes at the beginning of a file in which a NUL says that it is no text."""
_MARK = b"\xef\xbb\xbf"
_LONGEST_CHARACTER = 4


class Wanted(msgspec.Struct, frozen=True):
    """What part of a file is asked for, as a call says it."""

    offset: int | None = None
    limit: int | None = None
    start_line: int | None = None
    line_count: int | None = None
    tail_lines: int | None = None

    @property
    def by_bytes(self) -> bool:
        """Whether it is a range of bytes."""
        return self.offset is not None or self.limit is not None

    @property
    def by_lines(self) -> bool:
        """Whether it is a range of lines."""
        return not (self.start_line is self.line_count is self.tail_lines is None)


class _Part(msgspec.Struct, frozen=True):
    """What was found of what was asked for."""

    start: int
    """The position of its first byte."""
    content: bytes
    cut: bool
    """Whether more was asked for than an answer holds."""
    newlines_before: int | None
    """None: nobody counted."""


def read_any(rt: Runtime, path: str, wanted: Wanted, bounds: FileBounds) -> FileText | Listing:
    """A file's text, or a directory's entries."""
    _refuse_mixed(wanted)
    files = rt.fs
    try:
        with hinting(files, path):
            kind = files.stat(path).kind
        if kind == "directory":
            return listed(files, path)
        with files.opened(path) as file:
            _refuse_nul(file, path)
            return _read(file, path, wanted, bounds.read_bytes, rt.abort)
    except Unavailable as problem:
        # The file is there and was tried: not something to wait for, and nothing to make anew.
        raise OperationFailed(str(problem), extras={"reason": "io_error"}) from problem


def _refuse_mixed(wanted: Wanted) -> None:
    if wanted.by_bytes and wanted.by_lines:
        field, said = "offset", "a byte range (offset, limit) and a line range exclude each other"
    elif wanted.tail_lines is not None and wanted.line_count is not None:
        field, said = "tail_lines", "tail_lines and line_count exclude each other"
    elif wanted.tail_lines is not None and wanted.start_line is not None:
        field, said = "tail_lines", "tail_lines and start_line exclude each other"
    elif wanted.start_line is not None and wanted.line_count is None:
        field, said = "line_count", "start_line needs line_count, too"
    else:
        return
    raise InvalidArguments(
        f"Give one range: {said}.",
        field=field,
        expected="offset and limit, or start_line and line_count, or line_count, or tail_lines",
    )


def _refuse_nul(file: OpenFile, path: str) -> None:
    if b"\0" in file.read(0, LOOKED_AT):
        raise _no_text(path, file.byte_count, "a NUL byte is in its beginning")


def _no_text(path: str, size: int, why: str) -> BinaryFile:
    return BinaryFile(
        f"{path} is binary ({size:,} bytes): {why}.",
        hint="read takes text alone. Look at a picture with view_image; for anything else use a"
        " command made for its format.",
    )


def _read(file: OpenFile, path: str, wanted: Wanted, most: int, abort: AbortSignal) -> FileText:
    part = _part(file, wanted, most, abort)
    text = _decoded(part, path, file.byte_count, within=wanted.by_bytes)
    here = line_counts.lines_in(part.content)
    total = _total(file, part, here, abort)
    first, last = _numbers(part, here, total, file.byte_count)
    stops = part.start + len(part.content)
    return FileText(
        path=path,
        text=text,
        start_line=first,
        end_line=last,
        total_line_count=here.lines if total is None else total.lines,
        selected_line_count=here.lines,
        total_lines_exact=total is not None,
        truncated=part.cut,
        newline_count=None if total is None else total.newlines,
        char_count=len(text),
        line_window=_window(wanted),
        note=_note(part, wanted, file.byte_count, (first, last)),
        output_path=path if part.cut else None,
        bytes_read=stops - part.start,
        byte_limit=min(most, wanted.limit or most) if wanted.by_bytes else None,
        raw_bytes_truncated=part.cut if wanted.by_bytes else None,
        file_size=file.byte_count,
    )


def _part(file: OpenFile, wanted: Wanted, most: int, abort: AbortSignal) -> _Part:
    if wanted.tail_lines is not None:
        return _tail(file, wanted.tail_lines, most)
    if wanted.line_count is not None:
        return _lines(file, wanted.start_line or 1, wanted.line_count, most, abort)
    return _bytes(file, wanted.offset or 0, wanted.limit, most, abort)


def _bytes(file: OpenFile, offset: int, limit: int | None, most: int, abort: AbortSignal) -> _Part:
    asked = max(file.byte_count - offset, 0) if limit is None else limit
    room = min(asked, most)
    content = file.read(offset, room + _LONGEST_CHARACTER)
    shown = _whole_characters(content, room)
    cut = asked > most and len(content) > len(shown)
    before = (
        line_counts.counted(file, 0, offset, abort).newlines if offset <= MOST_COUNTED else None
    )
    return _Part(offset, shown, cut, before)


def _whole_characters(content: bytes, room: int) -> bytes:
    """As much as fits without half a character at its end; a single one in any case."""
    shown = cut_utf8(content, room)
    if shown or not room:
        return shown
    return next((content[:end] for end in range(1, len(content) + 1) if _ends(content, end)), b"")


def _ends(content: bytes, end: int) -> bool:
    return end == len(content) or not _goes_on(content[end])


def _goes_on(byte: int) -> bool:
    """Whether it belongs to a character that began before it."""
    return byte & 0b1100_0000 == 0b1000_0000


def _begun_before(content: bytes) -> int:
    return next((at for at, byte in enumerate(content) if not _goes_on(byte)), len(content))


def _lines(file: OpenFile, first: int, count: int, most: int, abort: AbortSignal) -> _Part:
    start, before = line_counts.start_of_line(file, first, abort)
    content = file.read(start, most + 1)
    end, missing = -1, count
    while missing and (end := content.find(b"\n", end + 1)) >= 0:
        missing -= 1
    asked = content if missing else content[: end + 1]
    shown = cut_utf8(asked, most)
    return _Part(start, shown, len(shown) < len(asked), before)


def _tail(file: OpenFile, lines: int, most: int) -> _Part:
    start = line_counts.start_of_tail(file, lines, most)
    size = file.byte_count - start
    content = file.read(max(start, file.byte_count - most - _LONGEST_CHARACTER), size)
    shown = tail_utf8(content, most)
    return _Part(file.byte_count - len(shown), shown, size > len(shown), None)


def _decoded(part: _Part, path: str, size: int, *, within: bool) -> str:
    """The text. Where a range may begin ``within`` a character, the rest of it is left out."""
    content = part.content
    if part.start == 0:
        content = content.removeprefix(_MARK)
    elif within:
        content = content[_begun_before(content[: _LONGEST_CHARACTER - 1]) :]
    try:
        return content.decode()
    except UnicodeDecodeError as problem:
        at = part.start + len(part.content) - len(content) + problem.start
        raise _no_text(path, size, f"the byte at {at:,} is not UTF-8") from None


def _total(
    file: OpenFile, part: _Part, here: "line_counts.Counted", abort: AbortSignal
) -> "line_counts.Counted | None":
    """The lines of the whole file, where counting them costs little."""
    after = part.start + len(part.content)
    rest = file.byte_count - after
    if part.newlines_before is not None and rest <= MOST_COUNTED:
        behind = line_counts.counted(file, after, file.byte_count, abort)
        newlines = part.newlines_before + here.newlines + behind.newlines
    elif file.byte_count <= MOST_COUNTED:
        newlines = line_counts.counted(file, 0, file.byte_count, abort).newlines
    else:
        return None
    last = file.read(max(file.byte_count - 1, 0), 1)
    return line_counts.Counted(newlines, last not in (b"", b"\n"))


def _numbers(
    part: _Part, here: "line_counts.Counted", total: "line_counts.Counted | None", size: int
) -> tuple[int, int]:
    if part.newlines_before is not None and part.content:
        return part.newlines_before + 1, part.newlines_before + here.lines
    if total is not None:
        # It ends where the file ends, or was counted from the beginning.
        return total.lines - here.lines + 1, total.lines
    at_the_end = part.start + len(part.content) == size
    return (-here.lines, -1) if at_the_end else (0, 0)


def _window(wanted: Wanted) -> LineWindow | None:
    if wanted.tail_lines is not None:
        return LineWindow("tail")
    if wanted.line_count is None:
        return None
    return LineWindow("head" if wanted.start_line is None else "range")


def _note(part: _Part, wanted: Wanted, size: int, lines: tuple[int, int]) -> str | None:
    if wanted.start_line is not None and not part.content:
        return f"There is no line {wanted.start_line:,}: the file has {lines[1]:,}."
    if not part.cut:
        return None
    if wanted.tail_lines is not None:
        return (
            f"This is the end of what was asked for, from byte {part.start:,} of {size:,}; read"
            " what comes before with offset and limit."
        )
    stops = part.start + len(part.content)
    where = "between two lines" if part.content.endswith(b"\n") else "in the middle of a line"
    return (
        f"It stops at line {lines[1]:,}, {where}, at byte {stops:,} of {size:,}; go on with"
        f' {{"offset": {stops}}}.'
    )


def listed(files: Files, path: str) -> Listing:
    """A directory's entries, each with the path to use next."""
    found = files.list(path)
    named = [one for one in found if _is_text(one.path)]
    shown = tuple(_entry(files, one) for one in named[:MOST_ENTRIES])
    return Listing(
        path=path, entries=shown, entry_count=len(shown), truncated=len(shown) < len(found)
    )


def _is_text(path: str) -> bool:
    """A name of other bytes than UTF-8 cannot be told, and not be asked for either."""
    return path == path.encode("utf-8", "replace").decode()


def _entry(files: Files, facts: FileFacts) -> Entry:
    kind = facts.kind if facts.kind != "link" else _leads_to(files, facts.path)
    return Entry(facts.name, facts.path, "directory" if kind == "directory" else "file")


def _leads_to(files: Files, path: str) -> str:
    try:
        return files.stat(path).kind
    except ToolError:
        return "file"
