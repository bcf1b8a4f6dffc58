"""How far each session had come, kept outside of the store: what is cut off its end is missed.

Every process that writes has a file of its own, mapped into memory, so that telling costs no system
call and survives the end of the process at any moment. Files of processes that are gone are added
up into one. A place that was half written when its process ended is passed over.
"""

import fcntl
import mmap
import os
import secrets
import struct
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from holdfast.contract.journal import JournalUnavailable

_SESSION = struct.Struct(">96sQ32s")
"""The session, the number of its last event, and that event's hash."""
_SLOT = struct.Struct(">I96sQ32s")
"""The same behind its checksum."""
_SLOTS_AT_ONCE = 256
_SUM = "sum"
_LIVE = ".live"
_NO_HASH = bytes(32)
TAKEN_AWAY = (1 << 63) - 1
"""Stands for the number of events of a session that was taken away on purpose."""


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


class AnchorFiles:
    """The files of one store, in a folder of their own. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        """Adds up what processes left that are gone. Blocking; JournalUnavailable."""
        self._folder = folder
        self._lock = threading.Lock()
        self._places: dict[str, int] = {}
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _add_up(folder)
            self._own = folder / f"{os.getpid()}-{secrets.token_hex(6)}{_LIVE}"
            self._handle = _opened(self._own)
            fcntl.flock(self._handle, fcntl.LOCK_EX)
            self._map = self._grown(_SLOTS_AT_ONCE)
        except OSError as problem:
            raise JournalUnavailable(f"{folder}: {problem.strerror}") from None

    def note(self, session_id: str, sequence: int, found: bytes, /) -> None:
        """A session has come this far, and that is committed."""
        with self._lock:
            place = self._places.get(session_id)
            if place is None:
                place = self._places[session_id] = len(self._places) * _SLOT.size
                if place == len(self._map):
                    self._map = self._grown(2 * len(self._places))
            end = place + _SLOT.size
            self._map[place:end] = _packed(session_id, sequence, found)

    def close(self) -> None:
        """Add it to what others told."""
        with self._lock:
            self._map.flush()
            self._map.close()
            os.close(self._handle)
        with suppress(OSError):  # it stays as it is, and is added up by the next one
            _add_up(self._folder)

    def _grown(self, slots: int) -> mmap.mmap:
        os.truncate(self._handle, slots * _SLOT.size)
        return mmap.mmap(self._handle, slots * _SLOT.size)


def read_anchors(folder: Path) -> Mapping[str, Anchor]:
    """How far every session had come, as far as anybody told. Blocking; raises OSError."""
    found: dict[str, Anchor] = {}
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            if path.name == _SUM or path.name.endswith(_LIVE):
                with suppress(FileNotFoundError):  # it was added up meanwhile
                    _merge(found, _slots(path.read_bytes()))
    return found


def _packed(session_id: str, sequence: int, found: bytes) -> bytes:
    rest = _SESSION.pack(session_id.encode(), sequence, found)
    return zlib.crc32(rest).to_bytes(4, "big") + rest


def _slots(content: bytes) -> Iterator[tuple[str, Anchor]]:
    for place in range(0, len(content) - _SLOT.size + 1, _SLOT.size):
        checksum, name, sequence, found = _SLOT.unpack_from(content, place)
        if sequence and zlib.crc32(content[place + 4 : place + _SLOT.size]) == checksum:
            yield name.rstrip(b"\0").decode(errors="replace"), Anchor(sequence, found)


def _merge(found: dict[str, Anchor], more: Iterator[tuple[str, Anchor]]) -> None:
    for session_id, anchor in more:
        known = found.get(session_id)
        if known is None or anchor.sequence > known.sequence:
            found[session_id] = anchor


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _add_up(folder: Path) -> None:
    """Put what processes left that are gone into one file, all of it or nothing."""
    lock = _opened(folder / ".lock")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
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
    finally:
        os.close(lock)


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
        for session_id, anchor in sorted(found.items()):
            out.write(_packed(session_id, anchor.sequence, anchor.hash))
        out.flush()
        os.fsync(out.fileno())
    part.replace(path)


def taken_away(anchors: Anchors, session_id: str) -> None:
    """Tell that a session was taken away on purpose."""
    anchors.note(session_id, TAKEN_AWAY, _NO_HASH)
