"""Reading a workspace that is to be carried: what is in it, in pieces, and no link is followed.

What has not changed since it was read the last time is not read again. Blocking. Where pieces go is
not known here.
"""

import errno
import os
import stat
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import NamedTuple

import msgspec

from holdfast.contract.carried import PIECE_BYTES, piece_name
from holdfast.execution.files.carried_list import LONGEST_PATH, Entry, pieces_of, written

BATCH_BYTES = 8 * 1024 * 1024
BATCH_PIECES = 500
_DEEPEST = 200
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EISDIR, errno.ENXIO})
"""Of what was there a moment ago: somebody still works there, and has put something else there."""
_EARLIEST, _LATEST = -(1 << 63), (1 << 63) - 1
"""Of the times of files, those that are kept as they are."""
_RACY_NS = 2_000_000_000
"""What changed so short a time before it was read may have changed again without our seeing it."""


class NotKeepable(Exception):
    """The workspace cannot be carried as it is; the text says why and what to do."""


class PackLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much is carried, and what not."""

    bytes: int
    files: int
    ignore: tuple[str, ...] = ()
    """Patterns of names, or of paths where a slash is in them."""


class Seen(NamedTuple):
    """How a file was when it was read: with the same, it is not read again."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class Packed(msgspec.Struct, frozen=True):
    """A workspace as it was read."""

    content: bytes
    """The list of what is in it."""
    entries: tuple[Entry, ...]
    left_out: int
    known: Mapping[bytes, tuple[Seen, Entry]]
    """Files that need not be read again while they stay as they are."""

    @property
    def name(self) -> str:
        """What the list is known by."""
        return piece_name(self.content)

    @property
    def pieces(self) -> frozenset[str]:
        """The names of all pieces, the list among them."""
        return pieces_of(self.entries) | {self.name}

    @property
    def files(self) -> int:
        """How many files there are."""
        return sum(entry.kind == "file" for entry in self.entries)

    @property
    def bytes(self) -> int:
        """What they hold."""
        return sum(entry.size for entry in self.entries)


class Packing:
    """One look at a workspace: go through `batches`, then take `packed`."""

    def __init__(
        self,
        root: str,
        limits: PackLimits,
        now_ns: int,
        known: Mapping[bytes, tuple[Seen, Entry]] | None = None,
    ) -> None:
        """``known``: from the last look. ``now_ns``: since 1970."""
        self._root = root
        self._limits = limits
        self._now_ns = now_ns
        self._known = known or {}
        self._next: dict[bytes, tuple[Seen, Entry]] = {}
        self._entries: list[Entry] = []
        self._left_out = 0
        self._size = 0
        self._count = 0

    def batches(self, stored: frozenset[str]) -> Iterator[dict[str, bytes]]:
        """The pieces that are not stored, a few at a time; NotKeepable, OSError."""
        with _held(os.open(self._root, _FOLDER)) as root:
            files = list(self._walk(root, b"", 0))
            batch: dict[str, bytes] = {}
            size = 0
            for path, seen in files:
                known = self._known.get(path)
                if known is not None and known[0] == seen:
                    self._took(path, seen, known[1])
                    continue
                for name, piece in self._read(root, path, seen):
                    if name in stored or name in batch:
                        continue
                    batch[name] = piece
                    size += len(piece)
                    if size >= BATCH_BYTES or len(batch) >= BATCH_PIECES:
                        yield batch
                        batch, size = {}, 0
            if batch:
                yield batch

    @property
    def packed(self) -> Packed:
        """What was read."""
        content = written(self._entries)
        entries = tuple(sorted(self._entries, key=lambda one: one.path))
        return Packed(content, entries, self._left_out, self._next)

    def _walk(self, folder: int, below: bytes, depth: int) -> Iterator[tuple[bytes, Seen]]:
        """Takes folders and links in, and gives files."""
        if depth > _DEEPEST:
            raise NotKeepable(f"{_text(below)} is deeper than {_DEEPEST} folders")
        with os.scandir(folder) as found:
            names = sorted(os.fsencode(entry.name) for entry in found)
        for name in names:
            path = b"%b/%b" % (below, name) if below else name
            if self._is_ignored(name, path):
                continue
            try:
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    with _held(os.open(name, _FOLDER, dir_fd=folder)) as inner:
                        mode = stat.S_IMODE(os.fstat(inner).st_mode) & 0o777
                        self._add(Entry(path, "folder", mode))
                        yield from self._walk(inner, path, depth + 1)
                elif stat.S_ISLNK(status.st_mode):
                    self._add(Entry(path, "link", target=os.readlink(name, dir_fd=folder)))
                elif stat.S_ISREG(status.st_mode):
                    self._counted(status.st_size, path)
                    yield path, _seen(status)
                else:
                    self._left_out += 1
            except OSError as problem:
                _unless_gone(problem, path)

    def _read(self, root: int, path: bytes, seen: Seen) -> Iterator[tuple[str, bytes]]:
        """The pieces of a file, which is taken in."""
        names: list[str] = []
        size = 0
        try:
            with _held(_opened_below(root, path)) as handle:
                status = os.fstat(handle)
                if not stat.S_ISREG(status.st_mode):
                    return
                while piece := _piece(handle):
                    size += len(piece)
                    self._grew(max(0, size - seen.size), path)
                    names.append(piece_name(piece))
                    yield names[-1], piece
                    if len(piece) < PIECE_BYTES:
                        break
        except OSError as problem:
            _unless_gone(problem, path)
            return
        mode = stat.S_IMODE(status.st_mode) & 0o777
        self._size += max(0, size - seen.size)
        mtime_ns = min(max(status.st_mtime_ns, _EARLIEST), _LATEST)
        entry = Entry(path, "file", mode, size, mtime_ns, tuple(names))
        self._took(path, _seen(status), entry)

    def _took(self, path: bytes, seen: Seen, entry: Entry) -> None:
        self._entries.append(entry)
        if seen.size == entry.size and seen.ctime_ns + _RACY_NS < self._now_ns:
            self._next[path] = (seen, entry)

    def _add(self, entry: Entry) -> None:
        self._counted(0, entry.path)
        self._entries.append(entry)

    def _counted(self, size: int, path: bytes) -> None:
        self._count += 1
        self._size += size
        if len(path) > LONGEST_PATH:
            raise NotKeepable(f"{_text(path[:80])}... is a path of more than {LONGEST_PATH} bytes")
        if self._count > self._limits.files:
            raise NotKeepable(
                f"it has more than {self._limits.files} files, folders and links"
                " (cluster.workspace_files); remove some, or name them in cluster.workspace_ignore"
            )
        self._grew(0, path)

    def _grew(self, more: int, path: bytes) -> None:
        if self._size + more > self._limits.bytes:
            raise NotKeepable(
                f"it has more than {self._limits.bytes} bytes (cluster.workspace_bytes), with"
                f" {_text(path)}; remove some, or name files in cluster.workspace_ignore"
            )

    def _is_ignored(self, name: bytes, path: bytes) -> bool:
        texts = {False: os.fsdecode(name), True: os.fsdecode(path)}
        return any(fnmatchcase(texts["/" in one], one) for one in self._limits.ignore)


@contextmanager
def _held(handle: int) -> Generator[int]:
    try:
        yield handle
    finally:
        os.close(handle)


def _opened_below(root: int, path: bytes) -> int:
    """A file, by every folder on the way: none of them may have become a link."""
    folders, _, name = path.rpartition(b"/")
    at = os.dup(root)
    try:
        for part in folders.split(b"/") if folders else ():
            above, at = at, os.open(part, _FOLDER, dir_fd=at)
            os.close(above)
        return os.open(name, _FILE, dir_fd=at)
    finally:
        os.close(at)


def _piece(handle: int) -> bytes:
    found = b""
    while len(found) < PIECE_BYTES and (more := os.read(handle, PIECE_BYTES - len(found))):
        found += more
    return found


def _seen(status: os.stat_result) -> Seen:
    return Seen(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _unless_gone(problem: OSError, path: bytes) -> None:
    if problem.errno not in _GONE:
        raise _unreadable(path, problem)


def _unreadable(path: bytes, problem: OSError) -> NotKeepable:
    return NotKeepable(f"{_text(path)} cannot be read: {problem.strerror or problem}")


def _text(path: bytes) -> str:
    return path.decode(errors="replace")
