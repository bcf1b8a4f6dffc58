"""Searching files as a tool does: by what lines hold, and by how paths are named.

Who searches, and how, is not known here.
"""

from typing import Literal, Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.files import FileKind

WantedKind = Literal["file", "directory"]

MOST_MATCHES = 200
"""How many lines an answer of `grep` shows."""
MOST_ENTRIES = 1000
"""How many entries an answer of `glob` shows."""


class LeftOut(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a search did not look at, by reason. A directory that was not entered counts once."""

    ignored: int = 0
    """Named by an ignore file, or a version-control, dependency or cache directory."""
    binary: int = 0
    unreadable: int = 0
    """The system refused it, or its name is no text."""
    refused: int = 0
    """Out of the call's reach."""
    links: int = 0
    """Links to files, pipes and the like, as a search below a directory meets them: never followed
    or opened. A link to a directory is not even counted."""


class Match(msgspec.Struct, frozen=True, gc=False):
    """A line that matches."""

    path: str
    """As a tool would write it: relative to the workspace where it lies in one."""
    line: int
    """The first line is 1."""
    text: str
    """The whole line, without its line ending."""


class FoundEntry(msgspec.Struct, frozen=True, gc=False):
    """A path that matches."""

    path: str
    kind: FileKind


class LineQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Lines to be found."""

    pattern: str
    path: str | None = None
    """A directory or a file; None: the workspace, with what is usually left out left out."""
    glob: str | None = None
    """Only files whose path fits; without a slash, whose name does."""
    regex: bool = True
    case_sensitive: bool = True
    limit: int | None = None
    """Stop after so many; None: find all."""


class PathQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Paths to be found."""

    pattern: str
    path: str | None = None
    """A directory; None: the workspace."""
    kind: WantedKind | None = None
    limit: int | None = None


class FoundLines(msgspec.Struct, frozen=True, kw_only=True):
    """Sorted by path and line."""

    matches: list[Match]
    files_scanned: int
    left_out: LeftOut
    stopped: str | None = None
    """Why the search ended before its end; None: these are all."""


class FoundPaths(msgspec.Struct, frozen=True, kw_only=True):
    """Sorted by path."""

    entries: list[FoundEntry]
    left_out: LeftOut
    stopped: str | None = None


class FileSearch(CallPort, Protocol):
    """Searches within the call's reach. Links are never followed."""

    async def lines(self, wanted: LineQuery, /) -> FoundLines:
        """Every line that matches."""
        ...

    async def paths(self, wanted: PathQuery, /) -> FoundPaths:
        """Every path below a directory that fits a pattern."""
        ...
