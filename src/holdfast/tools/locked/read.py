"""`read`: a file's text, whole or a part of it, or a directory's entries."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.file_bounds import READ_BYTES, FileBounds
from holdfast.contract.results import FileText, Listing
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Limits, OutputBound
from holdfast.tools.files import reading

NotNegative = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]


@builtin(
    requires={"fs": {"read": ["**"]}},
    uses={"path": "fs.read"},
    effects=("resource_read",),
    acp_kind="read",
    interrupt_behavior="cancel",
    parallel_safe=True,
    limits=Limits(output=OutputBound(max_bytes=READ_BYTES, fields=("text",))),
)
def read(  # noqa: PLR0913 - the arguments of the tool
    rt: Runtime,
    bounds: FileBounds,
    path: str,
    offset: NotNegative | None = None,
    limit: Positive | None = None,
    start_line: Positive | None = None,
    line_count: Positive | None = None,
    tail_lines: Positive | None = None,
) -> FileText | Listing:
    """Read a text file, whole or in part; a directory answers with its entries.

    Give no range, or one: bytes (offset, limit), lines (start_line with line_count, or line_count
    alone from the top), or tail_lines. At most 200 KB come back at once; `truncated` and `note`
    say where to go on. Lines are numbered from 1, and the text has no line numbers in it.
    Example: {"path": "src/main.py", "start_line": 40, "line_count": 60}

    Args:
        path: The file or directory, relative to the workspace or absolute.
        offset: The first byte, from 0; with limit, to read a large file piece by piece.
        limit: How many bytes.
        start_line: The first line, from 1; line_count says how many.
        line_count: How many lines.
        tail_lines: How many lines from the end of the file.
    """
    wanted = reading.Wanted(offset, limit, start_line, line_count, tail_lines)
    return reading.read_any(rt, path, wanted, bounds)
