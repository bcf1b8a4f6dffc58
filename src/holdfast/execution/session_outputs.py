"""What a session keeps for others to read: its artifacts and its sidecars, and nothing else.

A file is reached by its name below one of the two folders. No link is followed, nothing but plain
files is opened, and no more is read than was asked for. Blocking.
"""

import os
import stat
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from holdfast.execution.sidecars import ARTIFACTS, OUTPUTS, folder_name

OutputFolder = Literal["artifacts", "outputs"]
FOLDERS: tuple[OutputFolder, ...] = get_args(OutputFolder)
MOST_FILES = 1_000
"""How many files are listed at most, the first by name."""
_PLACE: dict[OutputFolder, str] = {"artifacts": ARTIFACTS, "outputs": OUTPUTS}
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class KeptFile(NamedTuple):
    """One file."""

    folder: OutputFolder
    name: str
    """Below its folder, with slashes."""
    byte_count: int


class SessionOutputs:
    """The files of one session."""

    def __init__(self, sessions: Path, session_id: str) -> None:
        """``sessions``: where the folders of sessions are."""
        self._sessions = sessions
        self._own = folder_name(session_id)

    def all(self) -> tuple[KeptFile, ...]:
        """Every file there is now, by name."""
        found = [one for folder in FOLDERS for one in self._below(folder)]
        return tuple(sorted(found))[:MOST_FILES]

    def read(self, folder: OutputFolder, name: str, most: int) -> bytes | None:
        """What a file holds; None: there is no such file. ValueError past ``most``."""
        with ExitStack() as opened:
            handle = self._file(opened, folder, name)
            return None if handle is None else _content(handle, most)

    def part(
        self, folder: OutputFolder, name: str, choose: Callable[[int], tuple[int, int]]
    ) -> bytes | None:
        """Some of a file: where it begins, and how many bytes, is chosen by how many there are."""
        with ExitStack() as opened:
            handle = self._file(opened, folder, name)
            if handle is None:
                return None
            begin, count = choose(os.fstat(handle).st_size)
            os.lseek(handle, begin, os.SEEK_SET)
            return _beginning(handle, count)

    def _file(self, opened: ExitStack, folder: OutputFolder, name: str) -> int | None:
        """A plain file, open to be read; None: there is no such file."""
        parts = name.split("/")
        if any(part in ("", ".", "..") or "\0" in part for part in parts):
            return None
        try:
            above = self._opened(opened, folder, parts[:-1])
            handle = os.open(parts[-1], _FILE, dir_fd=above)
        except OSError:
            return None  # also where a link is on the way: none is followed
        opened.callback(os.close, handle)
        return handle if stat.S_ISREG(os.fstat(handle).st_mode) else None

    def named(self, path: str) -> tuple[OutputFolder, str] | None:
        """Which of them is at a path of the host; None: none is."""
        for folder in FOLDERS:
            place = self._sessions / self._own / _PLACE[folder]
            if Path(path).is_relative_to(place):
                return folder, Path(path).relative_to(place).as_posix()
        return None

    def _below(self, folder: OutputFolder) -> list[KeptFile]:
        top = self._sessions / self._own / _PLACE[folder]
        if top.is_symlink() or top.parent.is_symlink():
            return []
        found: list[KeptFile] = []
        for above, _, names in os.walk(top):
            for name in names:
                path = Path(above) / name
                try:
                    facts = path.lstat()
                except OSError:
                    continue  # it went away meanwhile
                if stat.S_ISREG(facts.st_mode):
                    below = path.relative_to(top).as_posix()
                    found.append(KeptFile(folder, below, facts.st_size))
        return found

    def _opened(self, opened: ExitStack, folder: OutputFolder, parts: list[str]) -> int:
        above = os.open(self._sessions, _DIRECTORY & ~os.O_NOFOLLOW)
        opened.callback(os.close, above)
        for part in (self._own, _PLACE[folder], *parts):
            above = os.open(part, _DIRECTORY, dir_fd=above)
            opened.callback(os.close, above)
        return above


def _content(handle: int, most: int) -> bytes:
    content = _beginning(handle, most + 1)
    if len(content) > most:
        raise ValueError(f"it has more than {most:,} bytes")
    return content


def _beginning(handle: int, most: int) -> bytes:
    """As much as there is from here on, and no more than that."""
    pieces: list[bytes] = []
    left = most
    while left and (piece := os.read(handle, left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
