"""What a call hands to the people it works for: files kept in the session's artifact folder.

And the texts by which surfaces find them in an answer. Blocking, for tools that run in a thread.
"""

from typing import Protocol

import msgspec

from holdfast.contract.call_port import CallPort

ARTIFACT_START = "---SHARED_ARTIFACT_START---"
ARTIFACT_END = "---SHARED_ARTIFACT_END---"
CHART_START = "---CHART_START---"
CHART_END = "---CHART_END---"
MARKERS = (ARTIFACT_START, ARTIFACT_END, CHART_START, CHART_END)
"""Surfaces look for these in a text: nothing else may hold them."""


class KeptArtifact(msgspec.Struct, frozen=True, kw_only=True):
    """An artifact where it is kept."""

    name: str
    """As it is called there: another one of the same name was not overwritten."""
    host_path: str
    byte_count: int
    is_directory: bool
    left_out: int = 0
    """Entries of a directory that are links or special files, or that the call may not read."""


class Artifacts(CallPort, Protocol):
    """The artifacts of the calling session. They outlive it, until it is removed."""

    @property
    def context_id(self) -> str:
        """Whose they are."""
        ...

    @property
    def context_type(self) -> str:
        """What that is."""
        ...

    def copy(self, path: str, name: str, /) -> KeptArtifact:
        """Keep a copy of a file or a directory within the call's reach.

        OperationFailed: it could not be copied whole, and nothing of it is kept.
        """
        ...

    def write(self, name: str, content: bytes, /) -> KeptArtifact:
        """Keep these bytes; OperationFailed like `copy`."""
        ...


def artifact_name(name: str) -> str | None:
    """Why it cannot be the plain name of an artifact; None: it can."""
    if not name.strip():
        return "it is empty"
    if name in (".", ".."):
        return "it names a directory and no file"
    if "/" in name or "\\" in name:
        return "it holds a path separator"
    if not name.isprintable():
        return "it holds control characters"
    if len(name.encode("utf-8", "replace")) > LONGEST_NAME:
        return f"it is longer than {LONGEST_NAME} bytes"
    if any(marker in name for marker in MARKERS):
        return "it holds a marker"
    return None


LONGEST_NAME = 200
