"""A project's holdfast folder, read once: what is hashed is what is kept, and nothing else runs.

Reading it twice would let a change between the two readings pass. What the files mean is not known
here.
"""

import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from holdfast.app.locations import PROJECT_FOLDER
from holdfast.app.problems import ConfigurationError

MAX_FILES = 2_000
MAX_BYTES = 64 * 1024 * 1024

_CACHE = "__pycache__"
"""Left out, and so never kept and never run: Python writes it beside what it loads."""
_PRIVATE = 0o700
_OWNER_ONLY = 0o600
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class KeptFile(NamedTuple):
    """One file of the folder."""

    name: str
    """Relative to the folder."""
    content: bytes
    executable: bool


class ProjectFolder:
    """All that was in the folder at one moment."""

    def __init__(self, files: tuple[KeptFile, ...]) -> None:
        self.files = files

    @cached_property
    def fingerprint(self) -> str:
        """The hash of every name, content and executable bit."""
        whole = hashlib.sha256()
        for one in self.files:
            name = os.fsencode(one.name)
            whole.update(len(name).to_bytes(8, "big") + name)
            whole.update(len(one.content).to_bytes(8, "big") + one.content)
            whole.update(bytes([one.executable]))
        return whole.hexdigest()

    def content(self, name: str) -> bytes | None:
        """What one file held; None when there was none."""
        return next((one.content for one in self.files if one.name == name), None)

    def keep_in(self, folder: Path) -> Path:
        """A private copy below `folder`, named by its hash; made when it is not there whole.

        One process at a time; raises OSError.
        """
        kept = folder / self.fingerprint
        if self.is_kept_in(folder):
            return kept
        folder.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
        shutil.rmtree(kept, ignore_errors=True)
        part = folder / f".{self.fingerprint}.{secrets.token_hex(6)}"
        try:
            self._write(part)
            part.rename(kept)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        return kept

    def is_kept_in(self, folder: Path) -> bool:
        """Whether the copy is there, whole."""
        try:
            found = read_folder(folder / self.fingerprint)
        except ConfigurationError:
            return False
        return found is not None and found.fingerprint == self.fingerprint

    def _write(self, part: Path) -> None:
        part.mkdir(mode=_PRIVATE)
        for one in self.files:
            path = part / one.name
            path.parent.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
            mode = _PRIVATE if one.executable else _OWNER_ONLY
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
            with os.fdopen(handle, "wb") as out:
                out.write(one.content)


def read_project(project: Path) -> ProjectFolder | None:
    """The folder of a project; None when there is nothing in it.

    Raises ConfigurationError for a folder that cannot be read whole: it cannot be trusted.
    """
    return read_folder(project / PROJECT_FOLDER)


def read_folder(folder: Path) -> ProjectFolder | None:
    """The same for the folder itself."""
    if not folder.is_dir():
        return None
    if folder.is_symlink():
        raise ConfigurationError(f"{folder}: a link cannot be trusted; put the folder itself there")
    files: list[KeptFile] = []
    left = MAX_BYTES
    for path in _paths(folder):
        if len(files) == MAX_FILES:
            raise ConfigurationError(
                f"{folder}: more than {MAX_FILES:,} files; too many to be trusted"
            )
        read = _read(path, left, str(path.relative_to(folder)))
        left -= len(read.content)
        files.append(read)
    return ProjectFolder(tuple(sorted(files))) if files else None


def _paths(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                path = folder / entry.name
                if not entry.is_dir(follow_symlinks=False):
                    yield path
                elif entry.name != _CACHE:
                    yield from _paths(path)
    except OSError as problem:
        raise ConfigurationError(f"{folder}: it cannot be read ({problem.strerror})") from None


def _read(path: Path, most: int, name: str) -> KeptFile:
    if path.is_symlink():
        raise _special(path)
    try:
        handle = os.open(path, _OPEN)
    except OSError as problem:
        raise ConfigurationError(f"{path}: it cannot be read ({problem.strerror})") from None
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise _special(path)
        # The size first: a file full of holes costs its owner nothing, and us all its zeros.
        content = b"" if found.st_size > most else file.read(most + 1)
        if max(found.st_size, len(content)) > most:
            raise ConfigurationError(
                f"{path}: with it there are more than {MAX_BYTES:,} bytes; too much to trust"
            )
        return KeptFile(name, content, bool(found.st_mode & stat.S_IXUSR))


def _special(path: Path) -> ConfigurationError:
    return ConfigurationError(
        f"{path}: a link or special file cannot be trusted; put the file itself there"
    )
