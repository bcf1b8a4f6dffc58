"""`sandbox_read_file`: the reading tool of the sandbox, in the host profile; the same as `read`."""

from holdfast.tools.locked.read import read

sandbox_read_file = read.face(
    "sandbox_read_file",
    """
    Read a text file of the sandbox, whole or in part; a directory gives its entries.

    Give no range, or one: bytes (offset, limit), lines (start_line with line_count, or line_count
    alone from the top), or tail_lines. Example: {"path": "notes/today.md", "tail_lines": 20}
    """,
)
