"""How far each session had come, kept outside of the store: what is cut off its end is missed.

Every process that writes has a file of its own, mapped into memory, so that telling costs no system
call and survives the end of the process at any moment. Files of processes that are gone are added
up into one. A place that was half written when its process ended is passed over.

Room is taken before it is mapped: writing to a page that a full disk has no room for would end the
process. What finds no room waits in memory, and counts as told when there is some.
"""

import errno
import fcntl
import logging
import mmap
import os
import secrets
import struct
import threading
import zlib
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, Protocol

from holdfast.contract.journal import JournalUnavailable

_NAME_BYTES = 96
_SESSION = struct.Struct(f">{_NAME_BYTES}sQ32s")
"""The session's name, the number of its last event, and that event's hash."""
_SLOT = struct.Struct(f">I{_NAME_BYTES}sQ32s")
"""The same behind its checksum."""
_LONGEST_NAME = _NAME_BYTES - 1
"""One byte stays empty: a name without one is of an earlier version, which cut longer ids there."""
_HASHED = "sha256:"
_SLOTS_AT_ONCE = 256
_SUM = "sum"
_LIVE = ".live"
_NO_HASH = bytes(32)
TAKEN_AWAY = (1 << 63) - 1
"""Stands for the number of events of a session that was taken away on purpose."""
_NOT_ABLE = (errno.EOPNOTSUPP, errno.EINVAL)
"""How a file system says that it cannot set room aside."""

_log = logging.getLogger("holdfast")


class Anchor(NamedTuple):
    """How far a session had come."""

    sequence: int
    hash: bytes


class Anchors(Protocol):
    """Is told how far sessions have come."""

    def note(self, session_id: str, sequence: int, found: bytes, /) -> None:
        """A session has come this far, and that is committed."""
        ...

    def close(self) -> None:
        """Add it to what others told."""
        ...


class NoAnchors:
    """For stores whose ends nobody vouches for."""

    def note(self, session_id: str, sequence: int, found: bytes, /) -> None:
        """Nobody remembers."""

    def close(self) -> None:
        """There is nothing to add."""


NO_ANCHORS = NoAnchors()


class _Told:
    """What is known here of one session."""

    __slots__ = ("hash", "name", "place", "sequence")

    def __init__(self, name: str) -> None:
        self.name = name
        self.place: int | None = None
        """Where in the file; None: there was no room yet."""
        self.sequence = 0
        self.hash = _NO_HASH


class AnchorFiles:
    """The files of one store, in a folder of their own. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        """Adds up what processes left that are gone. Blocking; JournalUnavailable."""
        self._folder = folder
        self._lock = threading.Lock()
        self._told: dict[str, _Told] = {}
        self._waiting: list[_Told] = []
        self._used = 0
        self._failing = False
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _alone(folder):
                _add_up(folder)
                self._handle, self._map = _begun(folder)
        except OSError as problem:
            raise JournalUnavailable(f"{folder}: {problem.strerror}") from None

    def note(self, session_id: str, sequence: int, found: bytes, /) -> None:
        """A session has come this far, and that is committed. Where there is no room, it waits."""
        with self._lock:
            one = self._told.get(session_id)
            if one is None:
                one = self._told[session_id] = _Told(anchor_name(session_id))
                self._waiting.append(one)
            if sequence > one.sequence:
                one.sequence, one.hash = sequence, found
                self._write(one)
            if self._waiting:
                self._make_room()

    def close(self) -> None:
        """Add it to what others told."""
        with self._lock:
            self._make_room()
            self._map.close()
            os.close(self._handle)
        with suppress(OSError), _alone(self._folder):  # else the next one adds it up
            _add_up(self._folder)

    def _write(self, one: _Told) -> None:
        if one.place is not None:
            end = one.place + _SLOT.size
            self._map[one.place : end] = _packed(one.name, one.sequence, one.hash)

    def _make_room(self) -> None:
        """Find places for those that wait; one that cannot be had fails nobody, and is said."""
        try:
            while self._waiting:
                if self._used == len(self._map):
                    self._map = _grown(self._handle, self._map)
                one = self._waiting.pop()
                one.place = self._used
                self._used += _SLOT.size
                self._write(one)
        except OSError as problem:
            if not self._failing:
                _log.warning(
                    "how far sessions have come cannot be kept in %s (%s); make room there: until"
                    " then `holdfast audit verify` may not notice what is cut off their ends",
                    self._folder,
                    problem.strerror,
                )
            self._failing = True


def anchor_name(session_id: str) -> str:
    """Under which name the anchor of a session is kept: its id, or what stands for a long one."""
    told = session_id.encode(errors="surrogatepass")
    is_whole = len(told) <= _LONGEST_NAME and not told.endswith(b"\0")
    is_text = told == session_id.encode(errors="replace")
    if is_whole and is_text and not session_id.startswith(_HASHED):
        return session_id
    return _HASHED + sha256(told).hexdigest()


def read_anchors(folder: Path) -> Mapping[str, Anchor]:
    """How far every session had come, by its `anchor_name`, as far as anybody told.

    Blocking; raises OSError.
    """
    found: dict[str, Anchor] = {}
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            if path.name == _SUM or path.name.endswith(_LIVE):
                with suppress(FileNotFoundError):  # it was added up meanwhile
                    _merge(found, _slots(path.read_bytes()))
    return found


def _packed(name: str, sequence: int, found: bytes) -> bytes:
    rest = _SESSION.pack(name.encode(), sequence, found)
    return zlib.crc32(rest).to_bytes(4, "big") + rest


def _slots(content: bytes) -> Iterator[tuple[str, Anchor]]:
    for place in range(0, len(content) - _SLOT.size + 1, _SLOT.size):
        checksum, name, sequence, found = _SLOT.unpack_from(content, place)
        told = name.rstrip(b"\0")
        if not sequence or len(told) > _LONGEST_NAME:
            continue
        if zlib.crc32(content[place + 4 : place + _SLOT.size]) == checksum:
            yield told.decode(errors="replace"), Anchor(sequence, found)


def _merge(found: dict[str, Anchor], more: Iterator[tuple[str, Anchor]]) -> None:
    for name, anchor in more:
        known = found.get(name)
        if known is None or anchor.sequence > known.sequence:
            found[name] = anchor


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _begun(folder: Path) -> tuple[int, mmap.mmap]:
    """A file of one's own, held until it is closed."""
    path = folder / f"{os.getpid()}-{secrets.token_hex(6)}{_LIVE}"
    handle = _opened(path)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        size = _SLOTS_AT_ONCE * _SLOT.size
        _take_room(handle, 0, size)
        return handle, mmap.mmap(handle, size)
    except BaseException:
        os.close(handle)
        path.unlink()
        raise


def _grown(handle: int, mapped: mmap.mmap) -> mmap.mmap:
    """The same with twice the places; what is mapped stays as it is when there is no room."""
    size = 2 * len(mapped)
    _take_room(handle, len(mapped), size)
    grown = mmap.mmap(handle, size)
    mapped.close()
    return grown


def _take_room(handle: int, start: int, end: int) -> None:
    """Make a file larger by what the disk has room for, not by a hole. Raises OSError."""
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(handle, start, end - start)
        except OSError as problem:
            if problem.errno not in _NOT_ABLE:
                raise
        else:
            return
    while start < end:
        start += os.pwrite(handle, bytes(end - start), start)


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Nobody else adds up or begins a file meanwhile: a new one, not held yet, would look left."""
    lock = _opened(folder / ".lock")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _add_up(folder: Path) -> None:
    """Put what processes left that are gone into one file, all of it or nothing."""
    left = [path for path in folder.iterdir() if path.name.endswith(_LIVE) and _is_left(path)]
    if not left:
        return
    found: dict[str, Anchor] = {}
    for path in (folder / _SUM, *left):
        with suppress(FileNotFoundError):
            _merge(found, _slots(path.read_bytes()))
    _replaced(folder / _SUM, found)
    for path in left:
        path.unlink()


def _is_left(path: Path) -> bool:
    """Whether nobody writes to it any more."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(handle)


def _replaced(path: Path, found: Mapping[str, Anchor]) -> None:
    part = path.with_name(".sum.part")  # one at a time: whoever adds up holds the lock
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as out:
        for name, anchor in sorted(found.items()):
            out.write(_packed(name, anchor.sequence, anchor.hash))
        out.flush()
        os.fsync(out.fileno())
    part.replace(path)


def taken_away(anchors: Anchors, session_id: str) -> None:
    """Tell that a session was taken away on purpose."""
    anchors.note(session_id, TAKEN_AWAY, _NO_HASH)
