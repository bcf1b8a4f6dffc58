"""The artifact folder of a session: copies of files and directories, bounded, under safe names.

Below the session's own folder, for its owner alone; no link is followed on the way in, and none is
copied. What is read is read within the call's reach.
"""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path, PurePosixPath

import msgspec

from holdfast.contract.artifacts import KeptArtifact
from holdfast.contract.errors import Cancelled, OperationFailed, PolicyDenied, ToolError
from holdfast.contract.files import FileFacts
from holdfast.contract.runtime import Runtime
from holdfast.execution.sidecars import ARTIFACTS, folder_name, make_private

MOST_ENTRIES = 2_000
"""Of one directory that is shared."""
_PIECE = 1024 * 1024
_MOST_OF_ONE_NAME = 1_000
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OPENED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Quotas(msgspec.Struct, frozen=True):
    """How many bytes are kept at most."""

    artifact: int
    session: int


class _Refused(Exception):
    """Why something is not kept, in words."""


class SessionArtifacts:
    """The folder of one session."""

    def __init__(self, sessions: Path, session_id: str, quotas: Quotas) -> None:
        """``sessions``: where the folders of sessions are."""
        self.session_id = session_id
        self._sessions = sessions
        self._quotas = quotas
        self._used: int | None = None
        self._lock = threading.Lock()

    @property
    def path(self) -> Path:
        """Where they are kept."""
        return self._sessions / folder_name(self.session_id) / ARTIFACTS

    def opened(self, stack: ExitStack) -> int:
        """The folder, made if it is missing, open for as long as the stack is."""
        make_private(self._sessions)
        above = os.open(self._sessions, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, above)
        for part in (self.path.parent.name, ARTIFACTS):
            with suppress(FileExistsError):
                os.mkdir(part, 0o700, dir_fd=above)
            above = os.open(part, _OPENED, dir_fd=above)
            stack.callback(os.close, above)
        return above

    def reserve(self, count: int, already: int) -> None:
        """Take so many bytes more for an artifact that has some already."""
        if already + count > self._quotas.artifact:
            raise _Refused(f"an artifact may have {self._quotas.artifact:,} bytes at most")
        with self._lock:
            if self._used is None:
                self._used = _measured(self.path)
            if self._used + count > self._quotas.session:
                raise _Refused(
                    f"the artifacts of a session may have {self._quotas.session:,} bytes at most,"
                    f" and {self._used:,} are kept"
                )
            self._used += count

    def release(self, count: int) -> None:
        """What was taken is not used."""
        with self._lock:
            if self._used is not None:  # otherwise nothing was taken, and nothing is measured
                self._used = max(0, self._used - count)


class CallArtifacts:
    """What stands behind the port for one call."""

    context_type = "session"

    def __init__(self, artifacts: SessionArtifacts, runtime: Runtime) -> None:
        self._artifacts = artifacts
        self._runtime = runtime
        self._taken = 0
        self._left_out = 0

    @property
    def context_id(self) -> str:
        """Whose they are."""
        return self._artifacts.session_id

    def copy(self, path: str, name: str, /) -> KeptArtifact:
        """Keep a copy of a file or a directory within the call's reach."""
        try:
            kind = self._runtime.fs.stat(path).kind
        except ToolError as problem:
            raise _uncopied(path, str(problem)) from problem
        if kind not in ("file", "directory"):
            raise _uncopied(path, "it is neither a file nor a directory")
        return self._kept(path, name, is_directory=kind == "directory")

    def write(self, name: str, content: bytes, /) -> KeptArtifact:
        """Keep these bytes."""
        return self._kept(content, name, is_directory=False)

    def _kept(self, source: str | bytes, name: str, *, is_directory: bool) -> KeptArtifact:
        said = name if isinstance(source, bytes) else source
        self._taken = self._left_out = 0
        with ExitStack() as stack:
            try:
                folder = self._artifacts.opened(stack)
                placed = self._placed(source, folder, name, is_directory=is_directory)
            except BaseException as problem:
                self._artifacts.release(self._taken)
                why = _why(problem)
                if why is None:
                    raise
                raise _uncopied(said, why) from problem
        return KeptArtifact(
            name=placed,
            host_path=str(self._artifacts.path / placed),
            byte_count=self._taken,
            is_directory=is_directory,
            left_out=self._left_out,
        )

    def _placed(self, source: str | bytes, folder: int, name: str, *, is_directory: bool) -> str:
        """Under the first name that is free; what cannot be whole is taken away again."""
        free, handle = _new(folder, name, is_directory=is_directory)
        try:
            if handle is None:
                self._copy_below(str(source), folder, free)
            elif isinstance(source, bytes):
                self._fill(handle, iter([source]))
            else:
                self._fill(handle, self._pieces(source))
        except BaseException:
            _remove(folder, free, is_directory=is_directory)
            raise
        return free

    def _copy_below(self, source: str, folder: int, name: str) -> None:
        entries = 0
        with ExitStack() as stack:
            top = os.open(name, _OPENED, dir_fd=folder)
            stack.callback(os.close, top)
            root = self._runtime.fs.stat(source).path
            for facts in self._runtime.fs.walk(source):
                self._go_on()
                entries += 1
                if entries > MOST_ENTRIES:
                    raise _Refused(f"a directory may have {MOST_ENTRIES:,} entries at most")
                if not self._is_copied(facts, top, _below(facts.path, root)):
                    self._left_out += 1

    def _is_copied(self, facts: FileFacts, top: int, below: str) -> bool:
        """Copy an entry; False: it is nothing that is copied, or may not be read."""
        if facts.kind == "directory" and not facts.closed:
            os.mkdir(below, 0o700, dir_fd=top)
            return True
        if facts.kind != "file":
            return False
        try:
            pieces = self._pieces(facts.path)
            first = next(pieces, b"")
        except PolicyDenied:
            return False
        # Nobody but us writes below it: what is on the way is what we made.
        handle = os.open(below, _NEW_FILE, 0o600, dir_fd=top)
        self._fill(handle, chain([first], pieces))
        return True

    def _pieces(self, path: str) -> Iterator[bytes]:
        """Of one file, whatever is put in its place meanwhile."""
        with self._runtime.fs.opened(path) as file:
            start = 0
            while piece := file.read(start, _PIECE):
                yield piece
                start += len(piece)

    def _fill(self, handle: int, pieces: Iterator[bytes]) -> None:
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                self._go_on()
                self._artifacts.reserve(len(piece), self._taken)
                self._taken += len(piece)
                file.write(piece)

    def _go_on(self) -> None:
        if self._runtime.abort.aborted:
            raise Cancelled("The call was interrupted; nothing is kept.")


def _new(folder: int, name: str, *, is_directory: bool) -> tuple[str, int | None]:
    """A new directory, or a new file that is open; under a name like the one wanted."""
    for free in _names(name):
        with suppress(FileExistsError):
            if is_directory:
                os.mkdir(free, 0o700, dir_fd=folder)
                return free, None
            return free, os.open(free, _NEW_FILE, 0o600, dir_fd=folder)
    raise _Refused(f"there are {_MOST_OF_ONE_NAME:,} artifacts of that name")


def _names(name: str) -> Iterator[str]:
    """A name, and others like it; its ending stays."""
    yield name
    path = PurePosixPath(name)
    for number in range(2, _MOST_OF_ONE_NAME + 1):
        yield f"{path.stem}-{number}{path.suffix}"


def _below(path: str, root: str) -> str:
    return path if root == "." else path[len(root.rstrip("/")) + 1 :]


def _remove(folder: int, name: str, *, is_directory: bool) -> None:
    if is_directory:
        shutil.rmtree(name, ignore_errors=True, dir_fd=folder)
        return
    with suppress(OSError):
        os.unlink(name, dir_fd=folder)


def _measured(folder: Path) -> int:
    size = 0
    for above, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += (Path(above) / name).lstat().st_size
    return size


def _why(problem: BaseException) -> str | None:
    """Why it cannot be copied; None: that is not what is the matter."""
    if isinstance(problem, OSError):
        return problem.strerror or str(problem)
    is_told = isinstance(problem, (_Refused, ToolError)) and not isinstance(problem, Cancelled)
    return str(problem) if is_told else None


def _uncopied(source: str, why: str) -> OperationFailed:
    return OperationFailed(f"{source} could not be copied to the artifact folder: {why}")
