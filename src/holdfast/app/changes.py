"""What a call of a tool that changes files would change, as lines with + and -.

Without the file at hand, as far as the arguments tell. Nothing is changed here, and what is not
understood is no change.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import unified_diff
from itertools import islice
from pathlib import Path

from holdfast.contract.json_value import JsonObject
from holdfast.contract.truncate import cut_text

MOST_LINES = 40
_MOST_BYTES = 256 * 1024
_MOST_COMPARED = 1000
"""Lines that are compared with each other; more are told as gone and come."""
_WIDEST = 200
_CONTEXT = 2
_FILE = re.compile(r"\*\*\* (?:Add|Update|Delete) File: (.+)|\+\+\+ (?:b/)?(?!/dev/null)(.+)")
_HEADS = 2
"""Lines at the beginning of a difference that name files."""
CHANGE_ARGUMENTS = frozenset({"old_string", "new_string", "content", "patch"})
"""Arguments that the lines tell."""

Before = Callable[[str], str | None]
"""The text of a file, by its name; None: there is none, or it cannot be shown."""


def change_lines(
    tool: str, arguments: JsonObject, before: Before, most: int = MOST_LINES
) -> list[str]:
    """The lines, the first of them; none where the call changes no file as far as is known."""
    lines = list(_changes(tool, arguments, before))
    more = len(lines) - most
    cut = [cut_text(line, _WIDEST) for line in lines[:most]]
    return [*cut, f"… {more} more lines"] if more > 0 else cut


def whole_change(tool: str, arguments: JsonObject, before: Before) -> list[str]:
    """All of the lines, whatever their number: for whoever has to decide by them."""
    return list(_changes(tool, arguments, before))


def files_in(patch: str) -> list[str]:
    """The files that a patch names, in its order."""
    found = (_FILE.match(line) for line in patch.splitlines())
    return list(dict.fromkeys((one[1] or one[2]).strip() for one in found if one is not None))


def unknown(_path: str) -> str | None:
    """Nobody looks at files."""
    return None


def files_below(workspace: str | Path) -> Before:
    """Looks at the files of a workspace, as they are now. Blocking, and bounded."""

    def before(path: str) -> str | None:
        file = Path(workspace, path)
        try:
            if not file.is_file() or file.stat().st_size > _MOST_BYTES:
                return None
            return file.read_text("utf-8")
        except (OSError, ValueError):
            return None

    return before


def _changes(tool: str, arguments: JsonObject, before: Before) -> Iterator[str]:
    match tool, arguments:
        case "edit", {"path": str(path), "old_string": str(old), "new_string": str(new)}:
            whole = before(path)
            if whole is None or not old or old not in whole:
                whole = old
            everywhere = arguments.get("replace_all") is True
            changed = whole.replace(old, new, -1 if everywhere else 1) if old else new
            yield from _difference(whole, changed)
        case "write", {"path": str(path), "content": str(content)}:
            yield from _difference(before(path) or "", content)
        case "apply_patch", {"patch": str(patch)}:
            yield from patch.splitlines()
        case _:
            return


def _difference(old: str, new: str) -> Iterator[str]:
    gone, come = old.splitlines(), new.splitlines()
    first = _alike(gone, come)
    last = _alike(gone[first:][::-1], come[first:][::-1])
    start = max(first - _CONTEXT, 0)
    gone = gone[start : len(gone) - max(last - _CONTEXT, 0)]
    come = come[start : len(come) - max(last - _CONTEXT, 0)]
    if len(gone) + len(come) > _MOST_COMPARED:
        yield from (f"-{line}" for line in gone)
        yield from (f"+{line}" for line in come)
        return
    told = unified_diff(gone, come, lineterm="", n=_CONTEXT)
    for line in islice(told, _HEADS, None):
        if not line.startswith("@@"):
            yield line


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines at the beginning are the same."""
    for number, (mine, yours) in enumerate(zip(one, other, strict=False)):
        if mine != yours:
            return number
    return min(len(one), len(other))
