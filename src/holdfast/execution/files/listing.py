"""What there is: facts about entries, directories listed and trees walked by handles.

Links are named and never followed. A tree may be as deep as it likes: one directory is open at a
time, and nothing calls itself.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator

import msgspec

from holdfast.contract.files import FileFacts, FileKind
from holdfast.contract.paths import is_within
from holdfast.execution.files.opening import READABLE_FOLDER, open_physical

_NOT_ENTERED = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.ENAMETOOLONG}
)
"""A directory that is gone, that became something else, or that the system keeps closed."""


_PERMISSIONS = 0o777
"""Not the set-id and sticky bits: no write gives them to a file."""


def shown_path(path: str, workspace: str | None) -> str:
    """A physical path as a tool would write it: relative where it lies in the workspace."""
    if workspace is None or not is_within(path, workspace):
        return path
    return path[len(workspace.rstrip("/")) + 1 :] or "."


def facts_of(path: str, seen: os.stat_result, workspace: str | None) -> FileFacts:
    """What is known of an entry."""
    return FileFacts(
        path=shown_path(path, workspace),
        name=path.rpartition("/")[2],
        kind=_kind(seen.st_mode),
        byte_count=seen.st_size,
        modified_ns=seen.st_mtime_ns,
        mode=seen.st_mode & _PERMISSIONS,
    )


def _kind(mode: int) -> FileKind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else "other"


def entries_of(path: str, workspace: str | None) -> list[FileFacts]:
    """The entries of a physical directory, sorted by name; raises OSError."""
    folder = open_physical(path, READABLE_FOLDER)
    try:
        found: list[FileFacts] = []
        for name in sorted(os.listdir(folder)):  # noqa: PTH208 - of a handle
            try:
                seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                continue  # it went meanwhile
            found.append(facts_of(f"{path.rstrip('/')}/{name}", seen, workspace))
        return found
    finally:
        os.close(folder)


def walked(
    path: str,
    entries: list[FileFacts],
    enter: Callable[[str], list[FileFacts] | None],
) -> Iterator[FileFacts]:
    """Everything below a physical directory whose entries are given, parents first.

    ``enter`` gives the entries of a directory further down; None: it is not entered.
    """
    waiting = [(path.rstrip("/"), iter(entries))]
    while waiting:
        above, rest = waiting[-1]
        entry = next(rest, None)
        if entry is None:
            waiting.pop()
            continue
        if entry.kind != "directory":
            yield entry
            continue
        below = f"{above}/{entry.name}"
        found = enter(below)
        if found is None:
            yield msgspec.structs.replace(entry, closed=True)
        else:
            yield entry
            waiting.append((below, iter(found)))


def is_not_entered(problem: OSError) -> bool:
    """Whether a walk goes on without a directory that answers so."""
    return problem.errno in _NOT_ENTERED
