"""A flow session as JSON lines: a header, a line for each row, and a trailer once it is over.

Every line is handed to the system before the next one, in a file named `.partial` that only its
owner may read. Ended well, it gets its own name; a partial that is left tells of a crash. A line
counts once its line feed is there. Sandboxes are not written down: only a program gives one.
Blocking. How a session came to its rows is not known here.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal, NamedTuple, Self

import msgspec

from holdfast.contract.chunks import Chunk, ChunkTable, Lineage
from holdfast.contract.json_value import encode_json
from holdfast.contract.transcript import TokenUsage, Transcript

VERSION = 1

Ended = Literal["cleanly", "crash", "not_yet"]

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_OWNER_ONLY = 0o600


class FlowLogError(Exception):
    """A log that cannot be written or read; it says why, and what to do."""


class _Line(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="line", forbid_unknown_fields=True
):
    """What the three kinds have in common: they are told apart by `line`."""


class _Header(_Line, frozen=True, kw_only=True, tag="header"):
    version: int
    session_id: str
    lineage: Lineage


class _Row(_Line, frozen=True, kw_only=True, tag="chunk"):
    index: int
    chunk: Chunk


class _Trailer(_Line, frozen=True, kw_only=True, tag="trailer"):
    chunks: int
    lineage: Lineage
    usage: TokenUsage


class _OfAnyVersion(msgspec.Struct):
    version: int


_decoder = msgspec.json.Decoder(_Header | _Row | _Trailer)
_version_decoder = msgspec.json.Decoder(_OfAnyVersion)


class FlowLog:
    """Writes one session, for one thread at a time. Left without `close`, it stays a partial."""

    def __init__(self, path: Path | str, session_id: str, lineage: Lineage | None = None) -> None:
        """Begin where there is no log, nor what is left of one: FlowLogError."""
        self.path = path = Path(path)
        self._lineage = lineage or Lineage()
        self._rows = 0
        with _told(path), ExitStack() as held:
            self._folder = os.open(path.parent, _FOLDER)
            held.callback(os.close, self._folder)
            self._file = _created(path, self._folder)
            held.callback(os.close, self._file)
            _claim(path, self._folder, self._file)
            self._held = held.pop_all()
        self._is_open = True
        self._put(_Header(version=VERSION, session_id=session_id, lineage=self._lineage))

    def add(self, *chunks: Chunk) -> None:
        """Write rows behind the others."""
        for chunk in chunks:
            self._put(_Row(index=self._rows, chunk=chunk))
            self._rows += 1

    def close(self, usage: TokenUsage | None = None, lineage: Lineage | None = None) -> None:
        """Write what it cost and where it came from, as known by now; give it its own name."""
        self._put(
            _Trailer(
                chunks=self._rows, lineage=lineage or self._lineage, usage=usage or TokenUsage()
            )
        )
        with self, _told(self.path):
            os.fsync(self._file)
            os.rename(
                _partial(self.path).name,
                self.path.name,
                src_dir_fd=self._folder,
                dst_dir_fd=self._folder,
            )
            os.fsync(self._folder)

    def abandon(self) -> None:
        """Let go of the file as it is; harmless afterwards."""
        self._is_open = False
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.abandon()

    def _put(self, line: _Line) -> None:
        """Hand a line to the system; behind half a line nothing may ever be written."""
        if not self._is_open:
            raise FlowLogError(f"{self.path}: this log was ended; begin another one")
        rest = memoryview(encode_json(line) + b"\n")
        try:
            with _told(self.path):
                while rest:
                    rest = rest[os.write(self._file, rest) :]
        except BaseException:
            self.abandon()
            raise


def write_flow_log(path: Path | str, transcript: Transcript) -> None:
    """Write a whole session."""
    with FlowLog(path, transcript.id, transcript.lineage) as log:
        log.add(*transcript.chunk_table)
        log.close(transcript.cumulative_usage)


class ReadLog(NamedTuple):
    """What a log says."""

    transcript: Transcript
    ended: Ended
    dropped_bytes: int
    """Of a last line that was not written to its end."""


def read_flow_log(path: Path | str) -> ReadLog:
    """Read a log, or the partial that is left of it; FlowLogError names the line that is broken."""
    path = Path(path)
    found = _read(path, path) or _read(_partial(path), path)
    if found is None or (found.ended != "cleanly" and path.exists()):  # it was closed meanwhile
        found = _read(path, path)
    if found is None:
        raise FlowLogError(f"{path}: there is no log of this name, nor a partial one")
    return found


def _read(place: Path, path: Path) -> ReadLog | None:
    with _told(place):
        file = _opened(place)
        if file is None:
            return None
        with file:
            is_partial = place != path
            ended = "not_yet" if is_partial and _is_written(file) else "crash"
            transcript, is_whole, dropped = _lines(file, place)
    return ReadLog(transcript, "cleanly" if is_whole and not is_partial else ended, dropped)


def _lines(file: BinaryIO, place: Path) -> tuple[Transcript, bool, int]:
    header: _Header | None = None
    trailer: _Trailer | None = None
    rows: list[Chunk] = []
    dropped = 0
    for number, text in enumerate(file, 1):
        if not text.endswith(b"\n"):
            dropped = len(text)
            break
        line = _decoded(text, number, place)
        in_place = header is not None and trailer is None
        match line:
            case _Header() if header is None:
                header = line
            case _Row() if in_place and line.index == len(rows):
                rows.append(line.chunk)
            case _Trailer() if in_place and line.chunks == len(rows):
                trailer = line
            case _:
                raise _broken(place, number, "it does not follow the line before it")
    if header is None:
        raise FlowLogError(f"{place}: it ends within its first line; nothing was recorded")
    transcript = Transcript(
        header.session_id,
        ChunkTable(tuple(rows)),
        header.lineage if trailer is None else trailer.lineage,
        TokenUsage() if trailer is None else trailer.usage,
    )
    return transcript, trailer is not None, dropped


def _decoded(text: bytes, number: int, place: Path) -> _Header | _Row | _Trailer:
    try:
        if number == 1 and _version_decoder.decode(text).version > VERSION:
            raise FlowLogError(f"{place}: a newer holdfast wrote it; update holdfast to read it")
        return _decoder.decode(text)
    except (ValueError, RecursionError) as problem:
        raise _broken(place, number, str(problem)) from None


def _broken(place: Path, number: int, reason: str) -> FlowLogError:
    return FlowLogError(
        f"{place}: line {number} is broken ({reason}); restore the file from a copy, or cut it"
        " before that line"
    )


def _partial(path: Path) -> Path:
    return path.with_name(f"{path.name}.partial")


def _created(path: Path, folder: int) -> int:
    """A new partial: one at a time for the name it is to get."""
    partial = _partial(path)
    try:
        return os.open(partial.name, _NEW_FILE, _OWNER_ONLY, dir_fd=folder)
    except FileExistsError:
        raise FlowLogError(
            f"{partial}: another session is written there, or was until a crash; read it and move"
            " it away, or take another path"
        ) from None


def _claim(path: Path, folder: int, file: int) -> None:
    """Show that the partial is being written; its name must not be taken by a log that ended."""
    fcntl.flock(file, fcntl.LOCK_EX)
    if _exists(path.name, folder):
        os.unlink(_partial(path).name, dir_fd=folder)
        raise FlowLogError(f"{path}: there is a log already; take another path")


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _opened(place: Path) -> BinaryIO | None:
    """A file for reading, if there is one; no link is followed, and nothing but a file is read."""
    try:
        handle = os.open(place, _OLD_FILE)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise FlowLogError(f"{place}: it is not a file")
    return os.fdopen(handle, "rb")


def _is_written(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


@contextmanager
def _told(path: Path) -> Generator[None]:
    """Failures of the file system, as errors of the log."""
    try:
        yield
    except OSError as problem:
        if problem.errno == errno.ELOOP:
            raise FlowLogError(f"{path}: it is a link; name the file it leads to") from None
        raise FlowLogError(f"{path}: {problem.strerror}") from None
