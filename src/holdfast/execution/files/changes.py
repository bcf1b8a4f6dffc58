"""What every change replaced: kept before it happens, numbered, so that it can be undone.

A folder per session, for its owner alone. `00000001.json` says what change 1 replaces by what;
`<revision>.kept` is a content that was there. A record is safe on the disk before its change
begins, and no mark is made afterwards: whether it happened shows in the file itself, so that a
process can be ended at any moment. What is read back, and how it is restored, is not known here.
"""

import errno
import json
import os
import re
import stat
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, cast

import msgspec

from holdfast.execution.files.file_lock import file_lock
from holdfast.execution.files.kept import (
    PRIVATE,
    DamagedRecord,
    KeptContents,
    measured,
    pieces_of,
)
from holdfast.execution.files.opening import READABLE_FOLDER, Spot
from holdfast.execution.files.placing import (
    ASIDE,
    aside_name,
    make_last,
    put_new,
    written_aside,
)

DEFAULT_QUOTA = 512 * 1024 * 1024
_OTHERS_MAY_WRITE = 0o022
_RECORD = re.compile(r"([0-9]{8,})\.json")
_LOCK = "lock"
_TRIES = 8


class State(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is, was or will be at a path."""

    kind: Literal["absent", "file", "directory", "link"]
    mode: int | None = None
    revision: str | None = None
    """Of a file's content."""
    target: str | None = None
    """Of a link."""

    def holds_the_same(self, other: "State") -> bool:
        """Whether it is the same but for its mode."""
        return (self.kind, self.revision, self.target) == (other.kind, other.revision, other.target)


ABSENT = State(kind="absent")


class Change(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """One change of one path."""

    number: int = 0
    call_id: str
    tool: str = ""
    at_ns: int = 0
    path: str
    """Physical."""
    before: State
    after: State
    aside: str | None = None
    """A name in the same directory that is left over if the change was cut short."""
    undoes: int | None = None
    """The number of the change that this one takes back; 0: it was only on the way to that."""


def observed(
    spot: Spot, content: Callable[[int], str] = lambda handle: measured(handle).revision
) -> State:
    """What is there now; ``content`` gives the revision of an open file.

    Raises OSError for what is neither a file nor a directory nor a link.
    """
    seen = spot.look()
    if seen is None:
        return ABSENT
    if stat.S_ISLNK(seen.st_mode):
        return State(kind="link", target=os.readlink(spot.name, dir_fd=spot.folder))
    if stat.S_ISDIR(seen.st_mode):
        return State(kind="directory", mode=stat.S_IMODE(seen.st_mode))
    with spot.content() as handle:
        mode = stat.S_IMODE(os.fstat(handle).st_mode)
        return State(kind="file", mode=mode, revision=content(handle))


class Changes:
    """The changes of one session, in a folder of its own."""

    def __init__(self, folder: Path, now: Callable[[], int], *, quota: int = DEFAULT_QUOTA) -> None:
        self._folder = folder
        self._now = now
        self._contents = KeptContents(quota)
        self._counting = threading.Lock()
        self._last: int | None = None

    @contextmanager
    def together_with_others(self) -> Generator[None]:
        """While changes are made: keeps whoever takes changes back waiting."""
        with self._opened() as folder, file_lock(folder, _LOCK, exclusive=False):
            yield

    @contextmanager
    def alone(self) -> Generator[None]:
        """While changes are taken back: nobody else makes any."""
        with self._opened() as folder, file_lock(folder, _LOCK, exclusive=True):
            yield

    def load(self) -> tuple[Change, ...]:
        """Every change there is a record of, the oldest first."""
        if not self._folder.exists():
            return ()
        with self._opened() as folder:
            found = sorted(_numbers(folder).items())
            return tuple(_read(Spot(folder, name, name), number) for number, name in found)

    def add(self, change: Change) -> Change:
        """Record a change that is about to happen; gives it its number."""
        with self._opened() as folder:
            for _ in range(_TRIES):
                with suppress(FileExistsError):  # another process was faster
                    return self._add(folder, change)
                self._last = None
        raise FileExistsError(errno.EEXIST, "others record changes all the time")

    def _add(self, folder: int, change: Change) -> Change:
        numbered = msgspec.structs.replace(change, number=self._next(folder), at_ns=self._now())
        aside = Spot(folder, aside_name(), change.path)
        with written_aside(aside, [_encoded(numbered)], PRIVATE):
            put_new(aside, aside.beside(_name(numbered.number)))
        make_last(folder)
        return numbered

    def _next(self, folder: int) -> int:
        with self._counting:
            if self._last is None:
                self._last = max(_numbers(folder), default=0)
            self._last += 1
            return self._last

    def withdraw(self, change: Change) -> None:
        """Take back the record of a change that did not happen after all."""
        with suppress(OSError), self._opened() as folder:
            os.unlink(_name(change.number), dir_fd=folder)

    def keep(self, handle: int, *, bounded: bool) -> str:
        """Keep the content of an open file; gives its revision."""
        with self._opened() as folder:
            return self._contents.keep(folder, handle, bounded=bounded)

    @contextmanager
    def kept(self, revision: str) -> Generator[int]:
        """A content that was kept, open for reading; DamagedRecord when it is not what it was."""
        with self._opened() as folder, self._contents.opened(folder, revision) as handle:
            yield handle

    def tidy(self) -> None:
        """Remove what an ended process left of records; only while nobody makes changes."""
        with self._opened() as folder, os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(ASIDE):
                    os.unlink(entry.name, dir_fd=folder)

    @contextmanager
    def _opened(self) -> Generator[int]:
        handle = _open_private(self._folder)
        try:
            seen = os.fstat(handle)
            # Whoever can write a record could have files changed that are not theirs.
            if seen.st_uid != os.geteuid() or seen.st_mode & _OTHERS_MAY_WRITE:
                raise PermissionError(
                    errno.EPERM, "others can write the records of changes", str(self._folder)
                )
            yield handle
        finally:
            os.close(handle)


def _open_private(folder: Path) -> int:
    flags = READABLE_FOLDER | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(folder, flags)
    except FileNotFoundError:
        _make_private(folder)
        return os.open(folder, flags)


def _make_private(folder: Path) -> None:
    """Make the folder and what is missing above it, each for its owner alone."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(mode=0o700, exist_ok=True)


def _name(number: int) -> str:
    return f"{number:08}.json"


def _numbers(folder: int) -> dict[int, str]:
    found = (_RECORD.fullmatch(name) for name in os.listdir(folder))
    return {int(one[1]): one[0] for one in found if one is not None}


def _encoded(change: Change) -> bytes:
    # Not msgspec's own: a path may hold bytes that are no text, as lone surrogates.
    return json.dumps(msgspec.to_builtins(change), indent=1).encode()


def _read(spot: Spot, number: int) -> Change:
    with spot.content() as handle:
        content = b"".join(pieces_of(handle))
    try:
        change = msgspec.convert(cast("object", json.loads(content)), Change)
    except (ValueError, msgspec.ValidationError) as problem:
        raise DamagedRecord(f"{spot.name} is no record of a change: {problem}") from None
    if change.number != number:
        raise DamagedRecord(f"{spot.name} is the record of change {change.number}")
    return change
