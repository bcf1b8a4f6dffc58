"""`glob`: files and directories by the pattern their paths fit."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.search import (
    MOST_ENTRIES,
    FileSearch,
    FoundEntry,
    LeftOut,
    PathQuery,
    WantedKind,
)
from holdfast.contract.tool import OutputBound
from holdfast.tools.searching import search_options, why_more


class Globbed(msgspec.Struct, frozen=True, kw_only=True):
    """The paths that fit, sorted."""

    entries: list[FoundEntry]
    total: int
    left_out: LeftOut
    more: str | None = None
    """Why there may be more than these; None: these are all."""


_SHOWN = OutputBound(max_bytes=300_000, max_items=MOST_ENTRIES, fields=("entries",))


@builtin(**search_options(_SHOWN, "pattern"))
async def glob(
    pattern: str,
    search: FileSearch,
    path: str | None = None,
    kind: WantedKind | None = None,
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_ENTRIES)] | None = None,
) -> Globbed:
    """List files and directories whose path fits a pattern, sorted by path.

    `*` stays within one directory level, `**` spans any number of them, `?` is one character;
    braces are plain text. A pattern without `**` is not recursive. A recursive search without
    `path` heeds ignore files and passes over version-control, dependency and cache directories;
    `left_out` counts what was not looked at. No link is followed; without `**`, links are listed.
    Example:
    {"pattern": "src/**/*.py"}

    Args:
        pattern: The pattern, relative to `path`.
        path: The directory it begins in; the workspace if left out.
        kind: Only files, or only directories.
        limit: Stop after so many entries; left out, all are found.
    """
    found = await search.paths(PathQuery(pattern=pattern, path=path, kind=kind, limit=limit))
    return Globbed(
        entries=found.entries,
        total=len(found.entries),
        left_out=found.left_out,
        more=why_more(found.stopped, pattern, found=bool(found.entries)),
    )
