"""How far each session had come, kept outside of the store: what is cut off its end is missed.

Every process that writes has a file of its own, mapped into memory, so that telling costs no system
call and survives the end of the process at any moment. Files of processes that are gone are added
up into one.

Room is taken before it is mapped: writing to a page that a full disk has no room for would end the
process. What finds no room waits in memory, and counts as told when there is some. That goes for
the file itself, too: whoever only reads needs none.

A session that was restored begins a new life, which counts more than whatever was told of the one
before, its end included. Whoever restores changes a mark that all processes have mapped: so each
knows, without a system call, when lives have to be read again.
"""

import errno
import fcntl
import logging
import mmap
import os
import secrets
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from holdfast.record.anchor_file import (
    LIVE,
    MARK_BYTES,
    NOBODY_RESTORED,
    OwnFile,
    mapped_mark,
    opened,
)
from holdfast.record.anchor_form import (
    NO_HASH,
    TAKEN_AWAY,
    Anchor,
    anchor_name,
    packed,
    slots,
)
from holdfast.record.unavailable import NO_ROOM, refused

_SUM = "sum"
_LIVES = ".lives"
_LOCK = ".lock"
_LOCKED_SECONDS = 10.0
_POLL_SECONDS = 0.01
_WAITS = NO_ROOM | {errno.EFBIG}
"""What may be otherwise later."""

_log = logging.getLogger("holdfast")


class Anchors(Protocol):
    """Is told how far sessions have come."""

    def look(self) -> None:
        """Hear of sessions that were restored: before something is committed that is noted."""
        ...

    def note(self, session_id: str, sequence: int, found: bytes, /) -> None:
        """A session has come this far, and that is committed."""
        ...

    def leaving(self, session_id: str, sequence: int, found: bytes, /) -> None:
        """A session that has come this far is about to be taken away: it may be missing soon."""
        ...

    def restoring(self, session_id: str, /) -> None:
        """A session is about to be put in on purpose: nothing told before counts."""
        ...

    def close(self) -> None:
        """Add it to what others told."""
        ...


class NoAnchors:
    """For stores whose ends nobody vouches for."""

    def look(self) -> None:
        """Nobody restores."""

    def note(self, session_id: str, sequence: int, found: bytes, /) -> None:
        """Nobody remembers."""

    def leaving(self, session_id: str, sequence: int, found: bytes, /) -> None:
        """Nobody remembers."""

    def restoring(self, session_id: str, /) -> None:
        """Nobody remembers what was before."""

    def close(self) -> None:
        """There is nothing to add."""


NO_ANCHORS = NoAnchors()


class _Told:
    """What is known here of one session."""

    __slots__ = ("anchor", "name", "place")

    def __init__(self, name: str, life: int) -> None:
        self.name = name
        self.place: int | None = None
        """Where in the file; None: there was no room yet."""
        self.anchor = Anchor(0, NO_HASH, life)


class AnchorFiles:
    """The files of one store, in a folder of their own. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        """Adds up what processes left that are gone. Blocking; JournalUnavailable."""
        self._folder = folder
        self._lock = threading.Lock()
        self._told: dict[str, _Told] = {}
        self._waiting: list[_Told] = []
        self._lives: dict[str, int] = {}
        self._seen = NOBODY_RESTORED
        self._unsaid = False
        self._failing = False
        self._mark: mmap.mmap | None = None
        self._own: OwnFile | None = None
        """None: there was no room for it yet."""
        try:
            self._begun()
        except OSError as problem:
            if problem.errno not in _WAITS:
                raise refused(folder, problem) from None
        self._look()

    def look(self) -> None:
        """Hear of sessions that were restored: before something is committed that is noted."""
        with self._lock:
            self._look()

    def note(self, session_id: str, sequence: int, found: bytes, /) -> None:
        """A session has come this far, and that is committed. Where there is no room, it waits."""
        with self._lock:
            begun_anew = self._look()
            one = self._told.get(session_id) or self._new(session_id)
            # Restored since the last look: it may have been committed in the life before.
            if sequence > one.anchor.sequence and one.name not in begun_anew:
                self._write(one, Anchor(sequence, found, one.anchor.life))
            if self._waiting or self._unsaid:
                self._catch_up()

    def leaving(self, session_id: str, sequence: int, found: bytes, /) -> None:
        """A session that has come this far is about to be taken away: it may be missing soon."""
        with self._lock:
            self._look()
            one = self._told.get(session_id) or self._new(session_id)
            self._write(one, Anchor(sequence, found, one.anchor.life, leaving=True))
            if self._waiting or self._unsaid:
                self._catch_up()

    def restoring(self, session_id: str, /) -> None:
        """A session is about to be put in on purpose: nothing told before counts."""
        with self._lock:
            self._look()
            one = self._told.get(session_id) or self._new(session_id)
            self._lives[one.name] = life = one.anchor.life + 1
            self._write(one, Anchor(0, NO_HASH, life))
            self._unsaid = True
            self._catch_up()

    def close(self) -> None:
        """Add it to what others told."""
        with self._lock:
            if self._waiting or self._unsaid:
                self._catch_up()
            if self._own is not None:
                self._own.close()
            if self._mark is not None:
                self._mark.close()
        with suppress(OSError), _alone(self._folder):  # else the next one adds it up
            _add_up(self._folder)

    def _begun(self) -> tuple[OwnFile, mmap.mmap]:
        """What is written to, taken as soon as there is room for it. Raises OSError."""
        if self._own is None or self._mark is None:
            for one in (self._folder.parent, self._folder):
                one.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _alone(self._folder):
                _add_up_if_possible(self._folder)
                self._mark = self._mark or mapped_mark(self._folder / _LIVES)
                self._own = OwnFile(self._folder)
        return self._own, self._mark

    def _look(self) -> frozenset[str]:
        """Read lives again, where somebody restored a session: those that have begun new ones."""
        if self._mark is None or self._mark[:] == self._seen:
            return frozenset()
        return self._learn(self._mark)

    def _new(self, session_id: str) -> _Told:
        name = anchor_name(session_id)
        one = self._told[session_id] = _Told(name, self._lives.get(name, 0))
        self._waiting.append(one)
        return one

    def _write(self, one: _Told, anchor: Anchor) -> None:
        one.anchor = anchor
        if one.place is not None and self._own is not None:
            self._own.put(one.place, packed(one.name, anchor))

    def _catch_up(self) -> None:
        """Find places for those that wait; what cannot be had fails nobody, and is said."""
        try:
            own, mark = self._begun()
            self._look()
            while self._waiting:
                place = own.new_place()
                one = self._waiting.pop()
                one.place = place
                self._write(one, one.anchor)
            if self._unsaid:
                self._say(mark)
        except OSError as problem:
            self._warn(problem)

    def _say(self, mark: mmap.mmap) -> None:
        """Let others read lives again."""
        with _alone(self._folder):
            self._look()
            mark[:] = self._seen = secrets.token_bytes(MARK_BYTES)
        self._unsaid = False

    def _learn(self, mark: mmap.mmap) -> frozenset[str]:
        """Which sessions have begun new lives, here or elsewhere."""
        seen = mark[:]
        try:
            found = read_anchors(self._folder)
        except OSError as problem:
            self._warn(problem)
            return frozenset()
        before = self._lives
        self._lives = before | {name: one.life for name, one in found.items() if one.life}
        for one in self._told.values():
            life = self._lives.get(one.name, 0)
            if life > one.anchor.life:
                one.anchor = Anchor(0, NO_HASH, life)
        self._seen = seen
        return frozenset(name for name, life in self._lives.items() if life > before.get(name, 0))

    def _warn(self, problem: OSError) -> None:
        if not self._failing:
            _log.warning(
                "how far sessions have come cannot be kept in %s (%s); make room there: until"
                " then `holdfast audit verify` may not notice what is cut off their ends",
                self._folder,
                problem.strerror,
            )
        self._failing = True


def read_anchors(folder: Path) -> Mapping[str, Anchor]:
    """How far every session had come, by its `anchor_name`, as far as anybody told.

    Blocking; raises OSError.
    """
    live = sorted(folder.glob(f"*{LIVE}")) if folder.is_dir() else ()
    return _added(*live, folder / _SUM)  # what is added up meanwhile is in the last one


def _added(*paths: Path) -> dict[str, Anchor]:
    """Of each session what counts most, whichever file tells it; one that is not there is none."""
    found: dict[str, Anchor] = {}
    for path in paths:
        with suppress(FileNotFoundError):
            for name, anchor in slots(path.read_bytes()):
                known = found.get(name)
                if known is None or _weight(anchor) > _weight(known):
                    found[name] = anchor
    return found


def _weight(anchor: Anchor) -> tuple[int, int, bool]:
    return anchor.life, anchor.sequence, anchor.leaving


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Nobody else adds up or begins a file meanwhile: a new one, not held yet, would look left."""
    lock = opened(folder / _LOCK)
    try:
        _locked(lock, folder)
        yield
    finally:
        os.close(lock)


def _locked(lock: int, folder: Path) -> None:
    """Have it for oneself; TimeoutError when somebody keeps it."""
    until = time.monotonic() + _LOCKED_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                told = f"another process has kept it locked for {_LOCKED_SECONDS:.0f} seconds"
                raise TimeoutError(errno.ETIMEDOUT, told, str(folder / _LOCK)) from None
            time.sleep(_POLL_SECONDS)
        else:
            return


def _add_up(folder: Path) -> None:
    """Put what processes left that are gone into one file, all of it or nothing."""
    left = [path for path in folder.iterdir() if path.name.endswith(LIVE) and _is_left(path)]
    if not left:
        return
    _replaced(folder / _SUM, _added(folder / _SUM, *left))
    for path in left:
        path.unlink()


def _add_up_if_possible(folder: Path) -> None:
    """Where there is no room for the sum, what was left stays, and is read as it is."""
    try:
        _add_up(folder)
    except OSError as problem:
        if problem.errno not in _WAITS:
            raise


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
    try:
        with os.fdopen(handle, "wb") as out:
            for name, anchor in sorted(found.items()):
                out.write(packed(name, anchor))
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
    except BaseException:
        part.unlink()  # a full disk needs its room
        raise


def taken_away(anchors: Anchors, session_id: str) -> None:
    """Tell that a session was taken away on purpose."""
    anchors.note(session_id, TAKEN_AWAY, NO_HASH)
