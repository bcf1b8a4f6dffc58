"""The directories below one, when the files below it are known.

Whoever lists files says nothing of directories without any. On most file systems a directory's
links tell how many directories are in it: where they are all known, it need not be read.
"""

import os
import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from holdfast.execution.files.opening import READABLE_FOLDER, open_physical

_UNCOUNTED = 1
"""The links of a directory on a file system that does not count them."""


class Directories:
    """Finds them."""

    def __init__(self, root: str, ignored: frozenset[bytes], stopping: Callable[[], bool]) -> None:
        self._root = os.fsencode(root)
        self._ignored = ignored
        self._stopping = stopping

    def all(self, texts: Iterable[bytes]) -> Iterator[bytes]:
        """All but the ignored ones, as ``./path``; ``texts``: paths that end with NUL."""
        known = _above(texts)
        yield from known - {b"."}
        held = Counter(path.rpartition(b"/")[0] for path in known if path != b".")
        for path in sorted(known):
            if self._stopping():
                return
            if not self._are_known(path, held[path]):
                yield from self._below(path, known)

    def _are_known(self, path: bytes, count: int) -> bool:
        try:
            links = os.lstat(posixpath.join(self._root, path)).st_nlink
        except OSError:
            return True  # it went meanwhile
        return links > _UNCOUNTED and links - 2 == count

    def _below(self, path: bytes, known: set[bytes]) -> Iterator[bytes]:
        """Directories in which no file was listed, with all that is below them."""
        waiting = [path]
        while waiting and not self._stopping():
            for found in self._in(waiting.pop()):
                if found not in known and found not in self._ignored:
                    yield found
                    waiting.append(found)

    def _in(self, path: bytes) -> list[bytes]:
        physical = posixpath.normpath(posixpath.join(self._root, path))
        try:
            folder = open_physical(os.fsdecode(physical), READABLE_FOLDER)
        except OSError:
            return []  # ripgrep could not read it either, and said so
        try:
            with os.scandir(folder) as entries:
                names = [one.name for one in entries if one.is_dir(follow_symlinks=False)]
        finally:
            os.close(folder)
        return [path + b"/" + os.fsencode(name) for name in names]


def _above(texts: Iterable[bytes]) -> set[bytes]:
    known = {b"."}
    for text in texts:
        known.update({path[: path.rfind(b"/")] for path in text.split(b"\0")[:-1]})
    for path in [*known]:
        above = path.rpartition(b"/")[0]
        while above and above not in known:
            known.add(above)
            above = above.rpartition(b"/")[0]
    return known
