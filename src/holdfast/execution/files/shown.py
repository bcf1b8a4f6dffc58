"""A file put where a session's hand can read it: as a whole, through no link, for its owner alone.

The folders it is in are made on the way, and are ignored by Git. Whether it may be shown, and what
it says, is not known here.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from holdfast.execution.files.opening import FOLDER, open_physical
from holdfast.execution.files.placing import aside_name

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_STEP = FOLDER | os.O_NOFOLLOW | os.O_CLOEXEC
_IGNORED = b"*\n"
"""What a `.gitignore` says that ignores its whole folder."""


Mark = tuple[int, int, int]
"""Tells a file from one that somebody put in its place, or wrote again."""


def show(root: Path, folders: Sequence[str], name: str, content: bytes) -> Mark:
    """Write a file below a folder that is there. Blocking; OSError."""
    place = made(root, folders)
    try:
        put(place, name, content)
        return _mark(os.stat(name, dir_fd=place, follow_symlinks=False))
    finally:
        os.close(place)


def mark_of(path: Path) -> Mark | None:
    """Of the file that is there now; None: there is none. Blocking."""
    try:
        return _mark(path.lstat())
    except OSError:
        return None


def _mark(found: os.stat_result) -> Mark:
    return found.st_ino, found.st_mtime_ns, found.st_size


def made(root: Path, folders: Sequence[str], *, ignored: bool = True) -> int:
    """The innermost folder, open. ``ignored``: the outermost one is no concern of Git."""
    place = open_physical(str(root.resolve()), FOLDER)
    for depth, folder in enumerate(folders):
        inner = _entered(place, folder)
        if depth == 0 and ignored:
            _ignore(inner)
        place = inner
    return place


def _entered(place: int, folder: str) -> int:
    try:
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700, dir_fd=place)
        return os.open(folder, _STEP, dir_fd=place)
    finally:
        os.close(place)


def _ignore(place: int) -> None:
    try:
        os.stat(".gitignore", dir_fd=place, follow_symlinks=False)
    except FileNotFoundError:
        put(place, ".gitignore", _IGNORED)


def put(place: int, name: str, content: bytes, mode: int = 0o600) -> None:
    """Put a whole file into an open folder, in place of one that is there. OSError."""
    aside = aside_name()
    handle = os.open(aside, _NEW, 0o600, dir_fd=place)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            os.fchmod(handle, mode)
        os.rename(aside, name, src_dir_fd=place, dst_dir_fd=place)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside, dir_fd=place)
        raise
