"""`grep`: lines of files that match."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.search import MOST_MATCHES, FileSearch, LeftOut, LineQuery, Match
from holdfast.contract.tool import OutputBound
from holdfast.tools.searching import search_options, why_more


class Grepped(msgspec.Struct, frozen=True, kw_only=True):
    """The lines that match, sorted by path."""

    matches: list[Match]
    files_scanned: int
    left_out: LeftOut
    more: str | None = None
    """Why there may be more than these; None: these are all."""


_SHOWN = OutputBound(max_bytes=200_000, max_items=MOST_MATCHES, fields=("matches",))


@builtin(**search_options(_SHOWN, "pattern"))
async def grep(  # noqa: PLR0913 - the arguments that the contract names, and the port
    pattern: str,
    search: FileSearch,
    path: str | None = None,
    glob: str | None = None,
    regex: bool = True,  # noqa: FBT001, FBT002 - a model names every argument
    case_sensitive: bool = True,  # noqa: FBT001, FBT002 - a model names every argument
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_MATCHES)] | None = None,
) -> Grepped:
    """Find lines by a regular expression, in a directory and all below it, or in one file.

    Gives every matching line with its path and number. Without `path`, ignore files count, and
    version-control, dependency and cache directories are passed over; `left_out` counts what was
    not looked at. In a `path` you name nothing is passed over. Example:
    {"pattern": "^class \\\\w+Error", "glob": "*.py"}

    Args:
        pattern: A regular expression in ripgrep's syntax, matched line by line.
        path: The directory or file to search; the whole workspace if left out.
        glob: Search only files whose path fits, such as `*.py`, `src/**/*.ts` or `src/`;
            braces are plain text.
        regex: False to search for the pattern as plain text.
        case_sensitive: False to ignore case.
        limit: Stop the search after so many lines; left out, all are found.
    """
    wanted = LineQuery(
        pattern=pattern,
        path=path,
        glob=glob,
        regex=regex,
        case_sensitive=case_sensitive,
        limit=limit,
    )
    found = await search.lines(wanted)
    return Grepped(
        matches=found.matches,
        files_scanned=found.files_scanned,
        left_out=found.left_out,
        more=why_more(found.stopped, glob, found=bool(found.matches)),
    )
