"""Contents kept under their own revision: each once, and none when the quota is used up.

The folder is the caller's, open. Which contents are worth keeping is not known here.
"""

import errno
import os
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from holdfast.contract.errors import Unavailable
from holdfast.execution.files.opening import Spot
from holdfast.execution.files.placing import Look, aside_name, put, written_aside
from holdfast.execution.files.texts import new_digest

PRIVATE = Look(mode=0o600)
_PIECE = 1024 * 1024
_SUFFIX = ".kept"
_TRIES = 8


class CannotBeUndone(Unavailable):
    """What is there cannot be kept, so it is not changed either."""

    retryable = False


class DamagedRecord(ValueError):
    """What was kept is not what it was."""


class Content(NamedTuple):
    """What the pieces of a file amount to."""

    revision: str
    byte_count: int


def pieces_of(handle: int) -> Iterator[bytes]:
    """The content of an open file, from its beginning."""
    at = 0
    while piece := os.pread(handle, _PIECE, at):
        yield piece
        at += len(piece)


def measured(handle: int) -> Content:
    """What an open file holds."""
    digest, count = new_digest(), 0
    for piece in pieces_of(handle):
        digest.update(piece)
        count += len(piece)
    return Content(digest.hexdigest(), count)


class KeptContents:
    """The contents of one folder."""

    def __init__(self, quota: int) -> None:
        self._quota = quota
        self._used: int | None = None
        self._counting = threading.Lock()

    def keep(self, folder: int, handle: int, *, bounded: bool) -> str:
        """Keep the content of an open file; gives its revision.

        ``bounded``: CannotBeUndone when it would take more than the quota.
        """
        for _ in range(_TRIES):
            content = measured(handle)
            spot = _spot(folder, content.revision)
            if spot.look() is not None:
                return content.revision
            with (
                suppress(_ChangedMeanwhile),
                self._reserved(folder, content.byte_count, bounded=bounded),
            ):
                _copy(handle, content, spot)
                return content.revision
        raise OSError(errno.ESTALE, "it is being changed all the time")

    @contextmanager
    def opened(self, folder: int, revision: str) -> Generator[int]:
        """A content, open for reading; DamagedRecord when it is not what it was."""
        try:
            with _spot(folder, revision).content() as handle:
                if measured(handle).revision != revision:
                    raise DamagedRecord("what was kept of it is damaged")
                yield handle
        except FileNotFoundError:
            raise DamagedRecord("what was kept of it is gone") from None

    @contextmanager
    def _reserved(self, folder: int, wanted: int, *, bounded: bool) -> Generator[None]:
        with self._counting:
            if self._used is None:
                self._used = _byte_count(folder)
            if bounded and self._used + wanted > self._quota:
                raise CannotBeUndone(
                    f"Keeping what is there now for undo takes {wanted:,} bytes, and of this"
                    f" session's {self._quota:,} only {max(self._quota - self._used, 0):,} are"
                    " left; nothing was changed. Go on in a new session, or have the limit raised."
                )
            self._used += wanted
        try:
            yield
        except BaseException:
            self._used = None  # to be counted anew
            raise


class _ChangedMeanwhile(Exception):
    """The file was changed while it was copied."""


def _spot(folder: int, revision: str) -> Spot:
    return Spot(folder, revision + _SUFFIX, revision)


def _copy(handle: int, content: Content, spot: Spot) -> None:
    digest, aside = new_digest(), spot.beside(aside_name())

    def pieces() -> Iterator[bytes]:
        for piece in pieces_of(handle):
            digest.update(piece)
            yield piece

    with written_aside(aside, pieces(), PRIVATE):
        if digest.hexdigest() != content.revision:
            raise _ChangedMeanwhile
        put(aside, spot)


def _byte_count(folder: int) -> int:
    with os.scandir(folder) as entries:
        return sum(entry.stat().st_size for entry in entries if entry.name.endswith(_SUFFIX))
