"""The files of this machine, as far as a gate admits them: `rt.fs`.

Every access asks the gate and opens exactly the physical path that it admits. What a gate admits
is not known here, nor how links are kept out.
"""

import errno
import os
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from holdfast.contract.errors import InvalidArguments, OperationFailed, PolicyDenied, ToolError
from holdfast.contract.files import FileFacts, FileText, Written
from holdfast.contract.gates import Access, PathGate
from holdfast.execution.files.listing import facts_of, is_not_entered, walked
from holdfast.execution.files.locks import PathLocks
from holdfast.execution.files.mutations import (
    ANYTHING,
    Expected,
    NewContent,
    open_folder,
    remove_entry,
    write_file,
)
from holdfast.execution.files.opening import READABLE_FOLDER, Spot, standing
from holdfast.execution.files.reach import AGAIN, Reach, about_directory, refuse_no_name
from holdfast.execution.files.recorder import Recorder
from holdfast.execution.files.texts import editable, encoded, revision_of, text_of_file
from holdfast.execution.files.troubles import stale, told

DEFAULT_LARGEST_READ = 64 * 1024 * 1024
"""Bytes that are read at once, at most."""

_PIECE = 1024 * 1024
_FURTHEST = 1 << 62
"""No file is as long; the system takes no place much further."""
_MOST_PERMISSIVE = 0o777
_T = TypeVar("_T")


class DiskFile(NamedTuple):
    """An open file of this machine."""

    handle: int
    byte_count: int
    path: str
    """As it was asked for."""

    def read(self, start: int, limit: int, /) -> bytes:
        """At most so many bytes from there."""
        try:
            return _pieces(self.handle, start, limit)
        except OSError as problem:
            raise told(problem, self.path) from problem


class DiskFiles:
    """Files for one call. Passes `check_files` of `holdfast.testing`."""

    def __init__(
        self,
        gate: PathGate,
        workspace: str | None,
        recorder: Recorder,
        locks: PathLocks,
        *,
        largest_read: int = DEFAULT_LARGEST_READ,
    ) -> None:
        """``workspace`` is a physical path; ``locks`` are those of the whole session."""
        self._reach = Reach(gate, workspace)
        self._workspace = workspace
        self._recorder = recorder
        self._locks = locks
        self._largest = largest_read

    def stat(self, path: str, /) -> FileFacts:
        """What there is, at the end of links; FileNotFound when there is nothing."""
        return self._read(path, lambda physical: _facts(physical, self._workspace))

    def exists(self, path: str, /) -> bool:
        """Whether something is there; False also for what may not be seen."""
        try:
            _facts(self._reach.judged("read", path), self._workspace)
        except PolicyDenied:
            return False
        except OSError as problem:
            if is_not_entered(problem):
                return False
            raise told(problem, path) from problem
        return True

    @contextmanager
    def opened(self, path: str, /) -> Generator[DiskFile]:
        """A file, to be read in parts."""
        with _closing(self._read(path, _handle)) as handle:
            yield DiskFile(handle, os.fstat(handle).st_size, path)

    def read_bytes(self, path: str, /, *, start: int = 0, limit: int | None = None) -> bytes:
        """Read a file, or a part of it."""
        for name, given in (("start", start), ("limit", limit)):
            if given is not None and given < 0:
                raise InvalidArguments(
                    f"{name} is {given}.", field=name, expected="zero or more bytes"
                )
        return self._read(path, lambda physical: self._content(physical, start, limit))

    def _content(self, physical: str, start: int = 0, limit: int | None = None) -> bytes:
        most = self._largest if limit is None else min(limit, self._largest)
        with standing(physical) as spot, spot.content() as handle:
            content = _pieces(handle, start, most)
            more_wanted = limit is None or limit > most
            if more_wanted and _pieces(handle, start + most, 1):
                raise OperationFailed(
                    f"{self._reach.shown(physical)} has {os.fstat(handle).st_size:,} bytes, and"
                    f" at most {self._largest:,} are read at once: read it in parts.",
                    extras={"reason": "too_large"},
                )
        return content

    def read_text(self, path: str, /, *, encoding: str | None = None) -> FileText:
        """Read a text; BinaryFile when it is none, unless an encoding says how to read it."""
        return text_of_file(self._read(path, self._content), path, encoding)

    def write(
        self,
        path: str,
        content: bytes | str,
        /,
        *,
        mode: int | None = None,
        new: bool = False,
        revision: str | None = None,
    ) -> Written:
        """Put a whole file in place at once, keeping its mode; parents are made.

        It is a new file under the old name: other names of the old one keep the old content.
        """
        if mode is not None and not 0 <= mode <= _MOST_PERMISSIVE:
            raise InvalidArguments(
                f"mode is {mode:#o}.", field="mode", expected="permission bits, 0 to 0o777"
            )
        given = encoded(content, path) if isinstance(content, str) else content
        wanted = Expected(new=new, revision=revision)

        def act(physical: str) -> Written:
            refuse_no_name(path)
            return self._written(physical, given, mode, wanted)

        return self._change(path, act)

    def _written(
        self, physical: str, content: bytes, mode: int | None = None, expected: Expected = ANYTHING
    ) -> Written:
        new = NewContent([content], revision_of(content), mode)
        above, _, name = physical.rpartition("/")
        try:
            with _closing(open_folder(above or "/", self._recorder)) as folder:
                spot = Spot(folder, name or ".", physical)
                before = write_file(spot, new, self._recorder, expected)
        except OSError as problem:
            if problem.errno in AGAIN and expected.revision is not None:
                raise stale(self._reach.shown(physical)) from problem
            raise
        return Written(
            path=self._reach.shown(physical),
            byte_count=len(content),
            created=before.kind == "absent",
            revision=new.revision,
        )

    def edit(self, path: str, change: Callable[[str], str], /) -> Written:
        """Change a text; encoding, byte order mark and line endings stay."""

        def act(physical: str) -> Written:
            content = self._content(physical)
            found = text_of_file(content, path)
            seen = editable(found.text)
            text = seen.restored(change(seen.text))
            changed = encoded(text, path, found.encoding, found.mark)
            if changed == content:
                return Written(
                    path=self._reach.shown(physical),
                    byte_count=len(content),
                    created=False,
                    revision=found.revision,
                )
            return self._written(physical, changed, expected=Expected(revision=found.revision))

        return self._change(path, act)

    def make_directory(self, path: str, /) -> None:
        """Make a directory and what is missing above it."""
        try:
            self._change(path, lambda physical: os.close(open_folder(physical, self._recorder)))
        except ToolError as problem:
            raise about_directory(problem, path) from problem.__cause__

    def remove(self, path: str, /) -> None:
        """Remove a file, a link (itself) or an empty directory.

        A link is removed only where both its own place and what it leads to are admitted.
        """

        def act(physical: str) -> None:
            with standing(physical, READABLE_FOLDER) as spot:
                remove_entry(spot, self._recorder)

        self._change(path, act, self._reach.judged_itself)

    def list(self, path: str = ".", /) -> tuple[FileFacts, ...]:
        """The entries of a directory, sorted by name, as `ls -l` shows them."""
        return tuple(self._reach.entered(path)[1])

    def walk(self, path: str = ".", /) -> Iterator[FileFacts]:
        """Everything below a directory, parents first, sorted; links are named, not followed."""
        return walked(*self._reach.entered(path), self._reach.entered_below)

    def _read(self, path: str, act: Callable[[str], _T]) -> _T:
        return self._reach.act_on(self._reach.judged, "read", path, act)

    def _change(
        self,
        path: str,
        act: Callable[[str], _T],
        judge: Callable[[Access, str], str] | None = None,
    ) -> _T:
        def alone(physical: str) -> _T:
            with self._locks.held(physical):
                return act(physical)

        return self._reach.act_on(judge or self._reach.judged, "write", path, alone)


def _facts(physical: str, workspace: str | None) -> FileFacts:
    with standing(physical) as spot:
        seen = spot.look()
    if seen is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if stat.S_ISLNK(seen.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return facts_of(physical, seen, workspace)


def _handle(physical: str) -> int:
    with standing(physical) as spot, spot.content() as handle:
        return os.dup(handle)


@contextmanager
def _closing(handle: int) -> Generator[int]:
    try:
        yield handle
    finally:
        os.close(handle)


def _pieces(handle: int, start: int, most: int) -> bytes:
    found: list[bytes] = []
    while most > 0 and start <= _FURTHEST and (piece := os.pread(handle, min(most, _PIECE), start)):
        found.append(piece)
        start += len(piece)
        most -= len(piece)
    return b"".join(found)
