"""Files below a root, read and put in place as a whole; no link is followed, not even the last.

Blocking; raises OSError, ELOOP where a link is. What a root is for, and who may write there, is not
known here.
"""

import errno
import os
import stat
from contextlib import ExitStack, suppress
from typing import NamedTuple, Self

from holdfast.execution.files.opening import (
    READABLE_FOLDER,
    Spot,
    open_entry,
    open_physical,
    refuse_other_than_file,
    standing,
)
from holdfast.execution.files.placing import (
    Look,
    aside_name,
    make_last,
    put,
    put_new,
    written_aside,
)

_PIECE = 1024 * 1024


class Found(NamedTuple):
    """A file, as it is now."""

    content: bytes
    mode: int
    """The permission bits alone."""


def read_below(root: str, relative: str, most: int) -> Found | None:
    """A file of at most so many bytes; None: nothing is there. EFBIG for a larger one."""
    try:
        with standing(_joined(root, relative)) as spot:
            return _found(spot, most)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _found(spot: Spot, most: int) -> Found:
    with spot.content() as handle:
        pieces: list[bytes] = []
        left = most + 1
        while left > 0 and (piece := os.read(handle, min(left, _PIECE))):
            pieces.append(piece)
            left -= len(piece)
        if not left:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        return Found(b"".join(pieces), stat.S_IMODE(os.fstat(handle).st_mode) & 0o777)


class Prepared:
    """A file that is complete beside its place, and not in it yet: `put` or `discard` it."""

    def __init__(self, root: str, relative: str, content: bytes, new_mode: int | None) -> None:
        """Made on the way: the folders below the root. ``new_mode``: of a file that is new there;
        of one that is not, its mode and its owner stay."""
        self._held = ExitStack()
        *above, name = relative.split("/")
        try:
            folder = _entered(root, above)
            self._held.callback(os.close, folder)
            self._spot = Spot(folder, name, _joined(root, relative))
            self._aside = self._spot.beside(aside_name())
            seen = self._spot.look()
            look = Look(mode=new_mode)
            if seen is not None:
                refuse_other_than_file(seen.st_mode)
                look = Look(like=self._held.enter_context(self._spot.content()))
            with written_aside(self._aside, [content], look):
                pass
        except BaseException:
            self._held.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def put(self, before: bytes | None) -> None:
        """Put it in its place, where ``before`` is what is there now; ESTALE."""
        if before is None:
            try:
                put_new(self._aside, self._spot)
            except FileExistsError:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE)) from None
        else:
            if self._now(len(before)) != before:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
            put(self._aside, self._spot)
        make_last(self._spot.folder)

    def _now(self, most: int) -> bytes | None:
        try:
            return _found(self._spot, most).content
        except OSError:
            return None

    def discard(self) -> None:
        """Let go of it; what was put in place stays."""
        with suppress(OSError):
            os.unlink(self._aside.name, dir_fd=self._aside.folder)
        self._held.close()


def _joined(root: str, relative: str) -> str:
    return f"{root.rstrip('/')}/{relative}"


def _entered(root: str, folders: list[str]) -> int:
    folder = open_physical(root, READABLE_FOLDER)
    for name in folders:
        try:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=folder)
            inner = open_entry(folder, name, READABLE_FOLDER)
        finally:
            os.close(folder)
        folder = inner
    return folder
