"""Reading a manifest's file, and nothing else of the disk."""

import os
import stat
from pathlib import Path
from typing import NamedTuple

from holdfast.sources.manifest.entries import Manifest, ManifestProblem, load_manifest

LARGEST_FILE = 16 * 1024 * 1024


class Stamp(NamedTuple):
    """What changes whenever a file is written or replaced."""

    changed_ns: int
    size: int
    device: int
    inode: int


def read_manifest(path: Path) -> Manifest | ManifestProblem:
    """The manifest in a file; relative programs are meant from the folder the file lies in."""
    content = content_of(path)
    if isinstance(content, ManifestProblem):
        return content
    return load_manifest(content, folder_of(path))


def folder_of(path: Path) -> str:
    """The folder that a manifest's relative programs are below, as an absolute path."""
    return os.path.normpath(path.absolute().parent)


def content_of(path: Path) -> bytes | ManifestProblem:
    """What the file holds, or why it cannot be read."""
    try:
        # Opened without waiting: a pipe of that name would never answer.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as problem:
        return _unread(path, problem.strerror or str(problem))
    except ValueError as problem:
        return _unread(path, str(problem))
    try:
        content = _read(handle)
    except OSError as problem:
        return _unread(path, problem.strerror or str(problem))
    finally:
        os.close(handle)
    if content is None:
        return _unread(path, "it is no file")
    if len(content) > LARGEST_FILE:
        return _unread(path, f"it is larger than {LARGEST_FILE:,} bytes")
    return content


def _read(handle: int) -> bytes | None:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        return None
    with open(handle, "rb", closefd=False) as file:
        return file.read(LARGEST_FILE + 1)


def stamp_of(path: Path) -> Stamp | None:
    """How the file stands now; None: it is not there."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return Stamp(found.st_mtime_ns, found.st_size, found.st_dev, found.st_ino)


def _unread(path: Path, why: str) -> ManifestProblem:
    return ManifestProblem(text=f"read manifest: {path}: {why}")
