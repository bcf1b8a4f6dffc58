"""Making the files of a carried workspace again, in an empty folder that nobody else sees yet.

Everything is made new, below folders that were made here: nothing is written through a link, and
nothing but files, folders and links is made. Blocking; raises OSError, UnusableList.
"""

import os
from collections.abc import Iterator, Mapping, Sequence

from holdfast.contract.carried import piece_name
from holdfast.execution.files.carried_list import Entry, UnusableList, Wanted, wanted_of
from holdfast.execution.files.packing import BATCH_BYTES, BATCH_PIECES

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MORE = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


class Unpacking:
    """Give it each of `batches` with its pieces, in order, then `finish` it."""

    def __init__(self, folder: str, entries: Sequence[Entry]) -> None:
        """``folder``: empty, and ours alone. ``entries``: of a list that is believed."""
        self._folder = os.fsencode(folder)
        self._entries = entries

    def begin(self) -> None:
        """Make the folders, and the files that hold nothing."""
        for entry in self._entries:
            if entry.kind == "folder":
                os.mkdir(self._at(entry), 0o700)  # noqa: PTH102 - its name need not be text
            elif entry.kind == "file" and not entry.pieces:
                self._end(os.open(self._at(entry), _NEW, 0o600), entry)

    def batches(self) -> Iterator[list[Wanted]]:
        """Which pieces are wanted, a few at a time."""
        batch: list[Wanted] = []
        size = 0
        for one in wanted_of(self._entries):
            batch.append(one)
            size += one.size
            if size >= BATCH_BYTES or len(batch) >= BATCH_PIECES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def write(self, batch: Sequence[Wanted], pieces: Mapping[str, bytes]) -> None:
        """Write these into their files."""
        for one in batch:
            piece = pieces.get(one.name)
            if piece is None or len(piece) != one.size or piece_name(piece) != one.name:
                raise UnusableList(f"a piece of {one.entry.path!r} is missing or damaged")
            flags = _MORE if one.number else _NEW
            handle = os.open(self._at(one.entry), flags, 0o600)
            last = one.number + 1 == len(one.entry.pieces)
            self._end(handle, one.entry if last else None, piece)

    def finish(self) -> None:
        """Make the links, and give folders their modes: the innermost first."""
        for entry in reversed(self._entries):
            if entry.kind == "link":
                os.symlink(entry.target, self._at(entry))  # noqa: PTH211 - it need not be text
            elif entry.kind == "folder":
                handle = os.open(self._at(entry), _FOLDER)
                os.fchmod(handle, entry.mode)
                os.close(handle)

    def _end(self, handle: int, entry: Entry | None, piece: bytes = b"") -> None:
        """Write a piece; the last one of an entry makes it whole."""
        left = memoryview(piece)
        try:
            while left:
                left = left[os.write(handle, left) :]
            if entry is not None:
                os.fchmod(handle, entry.mode)
                os.utime(handle, ns=(entry.mtime_ns, entry.mtime_ns))
        finally:
            os.close(handle)

    def _at(self, entry: Entry) -> bytes:
        return b"%b/%b" % (self._folder, entry.path)
