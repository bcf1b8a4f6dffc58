"""`file_read`: the reading tool of the host profile; the same as `read`."""

from holdfast.tools.locked.read import read

file_read = read.face(
    "file_read",
    """
    Read a text file of the working folder, whole or in part; a directory gives its entries.

    Give no range, or one: bytes (offset, limit), lines (start_line with line_count, or line_count
    alone from the top), or tail_lines. Example: {"path": "notes/today.md", "tail_lines": 20}
    """,
)
