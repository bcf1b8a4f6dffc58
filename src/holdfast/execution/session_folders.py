"""The folders of sessions on disk: how large they are, and which of them nobody needs any more.

No link is followed, and what is no folder is left alone. Which sessions there are is told.
"""

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from holdfast.execution.processes.claims import GOING, is_claimed, remove_unclaimed
from holdfast.execution.processes.scratch import remove_scratch
from holdfast.execution.sidecars import folder_name


class LostFolder(NamedTuple):
    """A folder that belongs to no session, and that nobody uses."""

    path: Path
    bytes: int


class SessionFolders:
    """All of them, below one directory."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def bytes_of(self, session_id: str) -> int:
        """How much a session keeps there."""
        return _measured(self._folder(session_id)).bytes

    def is_used(self, session_id: str) -> bool:
        """Whether somebody who lives uses a session's folder; in doubt it is so."""
        folder = self._folder(session_id)
        return _is_folder(folder) and _is_used(folder)

    def remove(self, session_id: str) -> bool:
        """Remove a session's folder; False: somebody uses it, or it cannot be removed."""
        folder = self._folder(session_id)
        return not _is_folder(folder) or _removed(folder)

    def lost(self, known: Collection[str], before: float) -> tuple[LostFolder, ...]:
        """The folders of none of these sessions, in which nothing is younger than a moment."""
        names = {name for one in known for name in (one, folder_name(one))}
        return tuple(self._lost(names, before))

    def remove_lost(self, folder: LostFolder) -> bool:
        """Remove one of those; False: somebody uses it by now, or it cannot be removed."""
        if folder.path.name.startswith(GOING):
            remove_scratch(folder.path)
            return not folder.path.exists()
        return _removed(folder.path)

    def _lost(self, names: Collection[str], before: float) -> Iterator[LostFolder]:
        try:
            there = sorted(self._root.iterdir())
        except OSError:
            return
        for folder in there:
            if folder.name in names or not _is_folder(folder):
                continue
            measured = _measured(folder)
            is_old = measured.youngest < before and not _is_used(folder)
            if is_old or folder.name.startswith(GOING):
                yield LostFolder(folder, measured.bytes)

    def _folder(self, session_id: str) -> Path:
        return self._root / folder_name(session_id)


class _Measured(NamedTuple):
    bytes: int
    youngest: float
    """When anything in it was last written."""


def _measured(folder: Path) -> _Measured:
    size, youngest = 0, 0.0
    for above, _, names in os.walk(folder) if _is_folder(folder) else ():
        for name in (".", *names):
            try:
                facts = os.lstat(os.path.join(above, name))  # noqa: PTH118 - "." has to stay
            except OSError:
                continue  # it went away meanwhile
            youngest = max(youngest, facts.st_mtime)
            size += facts.st_size if name != "." else 0
    return _Measured(size, youngest)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_used(folder: Path) -> bool:
    try:
        return is_claimed(folder)
    except OSError:
        return True


def _removed(folder: Path) -> bool:
    try:
        return remove_unclaimed(folder)
    except OSError:
        return False
