"""How large the files are that the file tools take, as the host has set it."""

from typing import Protocol

from holdfast.contract.call_port import CallPort

READ_BYTES = 200 * 1024
"""What one answer of a reading tool shows, unless the host says otherwise."""
FILE_BYTES = 1024 * 1024
"""The largest text that is written or edited, unless the host says otherwise."""


class FileBounds(CallPort, Protocol):
    """The bounds that count for the calling tool."""

    @property
    def read_bytes(self) -> int:
        """What one answer shows."""
        ...

    @property
    def file_bytes(self) -> int:
        """The largest text that is written or edited; one bound, so that whatever was written can
        be edited."""
        ...

    @property
    def ignore_whitespace(self) -> bool:
        """Whether an edit that finds nothing looks again, for the same with other whitespace."""
        ...
