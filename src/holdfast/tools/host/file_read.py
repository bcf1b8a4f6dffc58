"""`file_read`: the reading tool of the host profile; the same as `read`."""

from holdfast.contract.builtin import builtin
from holdfast.contract.file_bounds import FileBounds
from holdfast.contract.results import FileText, Listing
from holdfast.contract.runtime import Runtime
from holdfast.tools.files.reading import NotNegative, Positive, Wanted, read_any
from holdfast.tools.locked.read import READING


@builtin(**READING)
def file_read(  # noqa: PLR0913 - the arguments of the tool
    rt: Runtime,
    bounds: FileBounds,
    path: str,
    offset: NotNegative | None = None,
    limit: Positive | None = None,
    start_line: Positive | None = None,
    line_count: Positive | None = None,
    tail_lines: Positive | None = None,
) -> FileText | Listing:
    """Read a text file of the working folder, whole or in part; a directory gives its entries.

    Give no range, or one: bytes (offset, limit), lines (start_line with line_count, or line_count
    alone from the top), or tail_lines. Example: {"path": "notes/today.md", "tail_lines": 20}

    Args:
        path: The file or directory, relative to the folder or absolute.
        offset: The first byte, from 0; with limit, to read a large file piece by piece.
        limit: How many bytes.
        start_line: The first line, from 1; line_count says how many.
        line_count: How many lines.
        tail_lines: How many lines from the end of the file.
    """
    wanted = Wanted(offset, limit, start_line, line_count, tail_lines)
    return read_any(rt, path, wanted, bounds)
