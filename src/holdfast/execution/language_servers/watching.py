"""Which files of a workspace changed since a server was last told, seen by looking at them.

Servers in a sandbox are not told by an editor what changed. A look costs time, so it ends at a
bound: what lies behind that is not noticed. Files are seen within the call's reach.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress

from holdfast.contract.errors import ToolError
from holdfast.contract.files import FileFacts, Files
from holdfast.contract.source_folders import NOT_SOURCE

MOST_LOOKED_AT = 5_000
"""Entries of folders, whatever they are."""

Seen = Mapping[str, tuple[int, int]]
"""By path as a tool writes it: when it was last changed, and how long it is."""

_CREATED, _CHANGED, _DELETED = 1, 2, 3


def look(files: Files, extensions: tuple[str, ...], go_on: Callable[[], None]) -> Seen:
    """The files with these extensions, as far as the bound lets see."""
    found: dict[str, tuple[int, int]] = {}
    waiting, left = ["."], MOST_LOOKED_AT
    while waiting and left > 0:
        go_on()
        entries: tuple[FileFacts, ...] = ()
        with suppress(ToolError):
            entries = files.list(waiting.pop())[:left]
        left -= len(entries)
        for entry in reversed(entries):
            if entry.kind == "directory" and entry.name not in NOT_SOURCE:
                waiting.append(entry.path)
            elif entry.kind == "file" and entry.name.lower().endswith(extensions):
                found[entry.path] = (entry.modified_ns, entry.byte_count)
    return found


def changes(before: Seen, now: Seen) -> dict[str, int]:
    """By path, what became of a file: as the protocol numbers it."""
    gone = dict.fromkeys(before.keys() - now.keys(), _DELETED)
    here = {
        path: _CREATED if path not in before else _CHANGED
        for path, facts in now.items()
        if before.get(path) != facts
    }
    return {**here, **gone}
